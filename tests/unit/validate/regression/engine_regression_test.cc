#include <doctest/doctest.h>

#include "unit/validate/engine_check.h"

// What the differential test against ajv found, one case each.
namespace sluice {
namespace {

using test::After;
using test::Check;

TEST_CASE("Engine: a missing property whose schema is false is told in both places") {
  CHECK(Check(R"({"properties":{"a":false,"b":{"type":"null"}},"required":["b","a"]})", "{}") ==
        "'' should have required property 'a', '' should have required property 'a', "
        "'' should have required property 'b'");
}

TEST_CASE("Engine: a reference to a list of schemas takes anything") {
  CHECK(Check(R"({"properties":{"a":{"$ref":"#/definitions/x/items"}},)"
              R"("definitions":{"x":{"items":[{"type":"null"}]}}})",
              R"({"a":1})") == "");
}

TEST_CASE("Engine: defaults of the meta-schemas are not put in") {
  CHECK(After(R"({"$ref":"http://json-schema.org/draft-07/schema#"})", R"({"a":1})") == "");
}

TEST_CASE("Engine: what ajv cannot finish is exhausted even if it could stop early") {
  const char* schema = R"({"oneOf":[{"type":"number","anyOf":[{"$ref":"#"}]},{"minItems":0}]})";
  CHECK(Check(schema, "{}").starts_with("exhausted: "));
}

TEST_CASE("Engine: keywords that a draft does not know may hold what is no schema") {
  CHECK(Check(R"({"$schema":"http://json-schema.org/draft-06/schema#","if":{"type":"null"},)"
              R"("else":{"dependencies":{"a":1}}})",
              R"({"a":1})") == "");
}

TEST_CASE("Engine: alternatives beside one without rules are not looked at") {
  CHECK(Check(R"({"anyOf":[{"$ref":"#/definitions/nothing"},{"title":"x"}]})", "1") == "");
}

TEST_CASE("Engine: what a draft does not check may divide by zero or be no expression") {
  const std::string draft = R"({"$schema":"http://json-schema.org/draft-06/schema#","if":true,)";
  CHECK(Check(draft + R"("then":{"multipleOf":0}})", "1") ==
        "'' should be multiple of 0, '' should match \"then\" schema");
  CHECK(Check(draft + R"("then":{"patternProperties":{"[":{}}}})", R"({"a":1})") == "");
}

TEST_CASE("Engine: a pointer to a $ref is followed if that is a pointer too, not if it is #") {
  CHECK(Check(R"({"properties":{"a":{"$ref":"#/definitions/x"}},)"
              R"("definitions":{"x":{"type":"null","$ref":"#"}}})",
              R"({"a":1})") == "'.a' should be null");
  CHECK(Check(R"({"properties":{"a":{"$ref":"#/definitions/x"}},)"
              R"("definitions":{"x":{"type":"null","$ref":"#/definitions/y"},"y":{"minimum":3}}})",
              R"({"a":1})") == "'.a' should be >= 3");
}

TEST_CASE("Engine: an alternative that fails behind a reference leaves its defaults") {
  const char* schema =
      R"({"contains":{"$ref":"#/definitions/x"},"definitions":{"x":{"type":"boolean",)"
      R"("properties":{"a":{"default":1},"b":{"$ref":"#/definitions/x"}}}}})";
  CHECK(After(schema, "[{},true]") == R"([{"a":1},true])");
}

TEST_CASE("Engine: a pointer to a reference to a document with an id is not followed") {
  CHECK(Check(R"({"$ref":"#/definitions/x","definitions":{"x":{"type":"string",)"
              R"("properties":{},"$ref":"http://json-schema.org/draft-07/schema#"}}})",
              "false") == "'' should be string");
}

TEST_CASE("Engine: defaults are seen in events with members that come twice") {
  CHECK(After(R"({"properties":{"b":{"default":1}}})", R"({"a":1,"a":2})") == R"({"a":2,"b":1})");
}

}  // namespace
}  // namespace sluice
