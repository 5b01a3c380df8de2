#include <doctest/doctest.h>

#include "unit/validate/engine_check.h"

// ajv's useDefaults: where defaults are put in, and where not.
namespace sluice {
namespace {

using test::After;
using test::Check;

TEST_CASE("Engine: defaults of missing properties are put in, in schema order") {
  CHECK(After(R"({"properties":{"a":{"default":1},"b":{"default":{"x":[null]}}}})", R"({"c":2})") ==
        R"({"c":2,"a":1,"b":{"x":[null]}})");
  CHECK(After(R"({"properties":{"a":{"default":1}}})", "{}") == R"({"a":1})");
  CHECK(After(R"({"properties":{"a":{"default":1}}})", R"({"a":null})") == "");
  CHECK(After(R"({"properties":{"a":{"default":1}}})", "[]") == "");
}

TEST_CASE("Engine: defaults go into nested objects that exist, also new ones") {
  const char* schema = R"({"properties":{"m":{"default":{},"properties":{"a":{"default":"x"}}}}})";
  CHECK(After(schema, R"({"m":{"b":1}})") == R"({"m":{"b":1,"a":"x"}})");
  CHECK(After(schema, "{}") == R"({"m":{"a":"x"}})");
  CHECK(After(R"({"items":{"properties":{"a":{"default":-1}}}})", R"([{},{"a":2},{}])") ==
        R"([{"a":-1},{"a":2},{"a":-1}])");
}

TEST_CASE("Engine: defaults of tuples are put behind what is there") {
  CHECK(After(R"({"items":[{"default":1},{"default":2}]})", "[0]") == "[0,2]");
  CHECK(After(R"({"items":[{"default":1},{"default":2}]})", "[]") == "[1,2]");
}

TEST_CASE("Engine: no defaults in alternatives, but through a $ref with references") {
  CHECK(After(R"({"anyOf":[{"properties":{"a":{"default":1}}}]})", "{}") == "");
  CHECK(After(R"({"not":{"properties":{"a":{"default":1}},"required":["a"]}})", "{}") == "");
  CHECK(After(R"({"allOf":[{"properties":{"a":{"default":1}}}]})", "{}") == R"({"a":1})");
  CHECK(After(R"({"anyOf":[{"$ref":"#/definitions/x"}],)"
              R"("definitions":{"x":{"properties":{"a":{"default":1},"b":{"$ref":"#"}}}}})",
              "{}") == R"({"a":1})");
}

TEST_CASE("Engine: defaults come before the checks of their schema, not of others") {
  CHECK(Check(R"({"required":["a"],"properties":{"a":{"default":1,"type":"integer"}}})", "{}") ==
        "");
  CHECK(Check(R"({"required":["a"],"properties":{"a":{"default":1,"type":"integer"}}})", "{}",
              validate::UseDefaults::kNo) == "'' should have required property 'a'");
  CHECK(Check(R"({"required":["a"],"allOf":[{"properties":{"a":{"default":1}}}]})", "{}") ==
        "'' should have required property 'a'");
  CHECK(Check(R"({"properties":{"a":{"default":"x","type":"integer"}}})", "{}") ==
        "'.a' should be integer");
}

TEST_CASE("Engine: a default keeps its text") {
  CHECK(After("{\"properties\":{\"a\":{\"default\":\"\xC3\xA9\\n\"}}}", "{}") ==
        "{\"a\":\"\xC3\xA9\\n\"}");
  CHECK(Check("{\"properties\":{\"a\":{\"default\":\"\xC3\xA9\",\"maxLength\":1}}}", "{}") == "");
}

}  // namespace
}  // namespace sluice
