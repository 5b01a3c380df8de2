#include <doctest/doctest.h>

#include "unit/validate/engine_check.h"
#include "validate/secure_check.h"

namespace sluice {
namespace {

std::string Secure(std::string_view schema) {
  return validate::CheckSecure(test::ParseJson(schema));
}

TEST_CASE("CheckSecure: pattern and format want maxLength") {
  CHECK(Secure(R"({"pattern":"a","maxLength":3})") == "");
  CHECK(Secure(R"({"pattern":"a"})") ==
        "the schema is not secure at \"\": pattern needs maxLength beside it");
  CHECK(Secure(R"({"properties":{"a/b":{"format":"date"}}})") ==
        "the schema is not secure at \"/properties/a~1b\": format needs maxLength beside it");
  CHECK(Secure(R"({"properties":{"format":{"type":"string"},"pattern":{"type":"string"}}})") == "");
}

TEST_CASE("CheckSecure: patternProperties want propertyNames with maxLength") {
  CHECK(Secure(R"({"patternProperties":{"a":{}},"propertyNames":{"maxLength":9}})") == "");
  CHECK(Secure(R"({"patternProperties":{"a":{}},"propertyNames":{}})") != "");
  CHECK(Secure(R"({"patternProperties":{}})") != "");
}

TEST_CASE("CheckSecure: uniqueItems wants maxItems unless items are scalars") {
  CHECK(Secure(R"({"uniqueItems":true})") != "");
  CHECK(Secure(R"({"uniqueItems":false})") == "");
  CHECK(Secure(R"({"uniqueItems":true,"maxItems":9})") == "");
  CHECK(Secure(R"({"uniqueItems":true,"items":{"type":"string"}})") == "");
  CHECK(Secure(R"({"uniqueItems":true,"items":{"type":["string","object"]}})") != "");
  CHECK(Secure(R"({"uniqueItems":true,"items":{"minLength":1}})") != "");
  CHECK(Secure(R"({"uniqueItems":true,"items":[{"type":"string"}]})") != "");
}

TEST_CASE("CheckSecure: looks below every keyword that holds schemas") {
  const std::string bad = R"({"pattern":"a"})";
  for (const char* one : {"additionalItems", "additionalProperties", "items", "if", "then", "else",
                          "not", "contains", "propertyNames"}) {
    CHECK(Secure("{\"" + std::string(one) + "\":" + bad + "}") != "");
  }
  for (const char* map : {"definitions", "patternProperties", "properties", "dependencies"}) {
    CHECK(Secure("{\"" + std::string(map) + R"(":{"x":)" + bad +
                 R"(},"propertyNames":{"maxLength":1}})") != "");
  }
  for (const char* list : {"allOf", "anyOf", "oneOf", "items"}) {
    CHECK(Secure("{\"" + std::string(list) + "\":[true," + bad + "]}") != "");
  }
  CHECK(Secure(R"({"enum":[{"pattern":"a"}],"const":{"pattern":"a"},"default":{"pattern":"a"}})") ==
        "");
}

TEST_CASE("CheckSecure: is part of compiling") {
  CHECK(test::Problem(R"({"format":"date"})", true) ==
        "/t/1.0.0: the schema is not secure at \"\": format needs maxLength beside it");
}

}  // namespace
}  // namespace sluice
