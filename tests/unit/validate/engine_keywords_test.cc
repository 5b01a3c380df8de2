#include <doctest/doctest.h>

#include "unit/validate/engine_check.h"

// Verdicts and messages, keyword by keyword. Texts are those of ajv 6.
namespace sluice {
namespace {

using test::Check;
using test::Errors;

TEST_CASE("Engine: type says what was wanted") {
  CHECK(Check(R"({"type":"integer"})", "1.0") == "");
  CHECK(Check(R"({"type":"integer"})", "1e400") == "");
  CHECK(Check(R"({"type":"integer"})", "1.5") == "'' should be integer");
  CHECK(Check(R"({"type":["integer","null"]})", "\"x\"") == "'' should be integer,null");
  CHECK(Check(R"({"type":["integer","number"]})", "1.5") == "");
  CHECK(Check(R"({"type":"boolean"})", "0") == "'' should be boolean");
  CHECK(Errors(R"({"type":"string"})", "1") ==
        R"([{"keyword":"type","dataPath":"","schemaPath":"#/type","params":{"type":"string"},)"
        R"("message":"should be string"}])");
}

TEST_CASE("Engine: integer tells its type before its limits, number after them") {
  CHECK(Check(R"({"type":"integer","minimum":3})", "1.5") ==
        "'' should be integer, '' should be >= 3");
  CHECK(Check(R"({"type":"string","minimum":3})", "1") == "'' should be string, '' should be >= 3");
  CHECK(Check(R"({"type":"object","maxLength":1,"properties":{"a":{"type":"string"}}})",
              "\"abc\"") == "'' should NOT be longer than 1 characters, '' should be object");
}

TEST_CASE("Engine: limits of numbers are doubles, printed as JavaScript does") {
  CHECK(Check(R"({"maximum":18446744073709552000})", "18446744073709551616") == "");
  CHECK(Check(R"({"maximum":18446744073709552000})", "1e20") ==
        "'' should be <= 18446744073709552000");
  CHECK(Check(R"({"exclusiveMinimum":1e21})", "1e21") == "'' should be > 1e+21");
  CHECK(Check(R"({"minimum":5,"exclusiveMinimum":5})", "5") == "'' should be > 5");
  CHECK(Check(R"({"minimum":6,"exclusiveMinimum":5})", "5") == "'' should be >= 6");
  CHECK(Check(R"({"$schema":"http://json-schema.org/draft-04/schema#","maximum":3,)"
              R"("exclusiveMaximum":true})",
              "3") == "'' should be < 3");
  CHECK(Errors(R"({"exclusiveMaximum":3})", "3") ==
        R"([{"keyword":"exclusiveMaximum","dataPath":"","schemaPath":"#/exclusiveMaximum",)"
        R"("params":{"comparison":"<","limit":3,"exclusive":true},"message":"should be < 3"}])");
}

TEST_CASE("Engine: multipleOf divides") {
  CHECK(Check(R"({"multipleOf":0.1})", "0.3") == "'' should be multiple of 0.1");
  CHECK(Check(R"({"multipleOf":0.01})", "4.35") == "'' should be multiple of 0.01");
  CHECK(Check(R"({"multipleOf":2})", "-4") == "");
  CHECK(Check(R"({"multipleOf":1})", "1e21") == "'' should be multiple of 1");
}

TEST_CASE("Engine: lengths are code points") {
  CHECK(Check(R"({"maxLength":2})", "\"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\"") == "");
  CHECK(Check(R"({"maxLength":1})", "\"\xC3\xA9\xC3\xA9\"") ==
        "'' should NOT be longer than 1 characters");
  CHECK(Check(R"({"minLength":2})", "\"\xF0\x9F\x98\x80\"") ==
        "'' should NOT be shorter than 2 characters");
  CHECK(Check(R"({"minLength":2,"maxLength":2})", R"("\ud800\udc00\ud800")") == "");
}

TEST_CASE("Engine: pattern and format") {
  CHECK(Check(R"({"pattern":"^a\\/b$"})", "\"a/c\"") == "'' should match pattern \"^a\\/b$\"");
  CHECK(Check(R"({"format":"date"})", "\"x\"") == "'' should match format \"date\"");
  CHECK(Check(R"({"format":"date"})", "5") == "");
}

TEST_CASE("Engine: required names with a schema are told in schema order, others first") {
  const char* schema =
      R"({"required":["z","b","a"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}})";
  CHECK(Check(schema, "{}") ==
        "'' should have required property 'z', '' should have required property 'a', "
        "'' should have required property 'b'");
}

TEST_CASE("Engine: additionalProperties follow the event's order, array indices first") {
  CHECK(
      Errors(R"({"additionalProperties":false,"properties":{"a":{}}})",
             R"({"b":1,"2":1,"a":1,"1":1})") ==
      R"([{"keyword":"additionalProperties","dataPath":"","schemaPath":"#/additionalProperties",)"
      R"("params":{"additionalProperty":"1"},"message":"should NOT have additional properties"},)"
      R"({"keyword":"additionalProperties","dataPath":"","schemaPath":"#/additionalProperties",)"
      R"("params":{"additionalProperty":"2"},"message":"should NOT have additional properties"},)"
      R"({"keyword":"additionalProperties","dataPath":"","schemaPath":"#/additionalProperties",)"
      R"("params":{"additionalProperty":"b"},"message":"should NOT have additional properties"}])");
}

TEST_CASE("Engine: paths of computed keys are in brackets and not escaped") {
  CHECK(Check(R"({"additionalProperties":{"type":"null"}})", R"({"a":1,"b'c":2})") ==
        "'['a']' should be null, '['b'c']' should be null");
  CHECK(Check(R"({"properties":{"a":{"type":"null"},"b'c":{"type":"null"}}})",
              R"({"a":1,"b'c":2})") == "'.a' should be null, '['b\\'c']' should be null");
  CHECK(Check(R"({"patternProperties":{"^a":{"type":"null"}}})", R"({"ab":1,"b":1})") ==
        "'['ab']' should be null");
}

TEST_CASE("Engine: schema paths escape property names") {
  CHECK(
      Errors(R"({"properties":{"a/b~c d":{"type":"null"}}})", R"({"a/b~c d":1})") ==
      R"([{"keyword":"type","dataPath":"['a/b~c d']","schemaPath":"#/properties/a~1b~0c%20d/type",)"
      R"("params":{"type":"null"},"message":"should be null"}])");
}

TEST_CASE("Engine: propertyNames tells the inner error with the name, then its own") {
  CHECK(Errors(R"({"propertyNames":{"maxLength":1}})", R"({"ab":1,"c":1})") ==
        R"([{"keyword":"maxLength","dataPath":"","schemaPath":"#/propertyNames/maxLength",)"
        R"("params":{"limit":1},"message":"should NOT be longer than 1 characters",)"
        R"("propertyName":"ab"},{"keyword":"propertyNames","dataPath":"",)"
        R"("schemaPath":"#/propertyNames","params":{"propertyName":"ab"},)"
        R"("message":"property name 'ab' is invalid"}])");
}

TEST_CASE("Engine: dependencies") {
  CHECK(Check(R"({"dependencies":{"a":["b","c"]}})", R"({"a":1,"c":1})") ==
        "'' should have properties b, c when property a is present");
  CHECK(Check(R"({"dependencies":{"a":["b"]}})", R"({"a":1})") ==
        "'' should have property b when property a is present");
  CHECK(Check(R"({"dependencies":{"a":{"minProperties":2}}})", R"({"a":1})") ==
        "'' should NOT have fewer than 2 properties");
  CHECK(Check(R"({"dependencies":{"a":["b"]}})", "{}") == "");
}

TEST_CASE("Engine: arrays") {
  CHECK(Check(R"({"items":{"type":"integer"},"maxItems":2})", R"([1,"a",3])") ==
        "'' should NOT have more than 2 items, '[1]' should be integer");
  CHECK(Check(R"({"items":[{"type":"null"}],"additionalItems":false})", "[1,2]") ==
        "'' should NOT have more than 1 items, '[0]' should be null");
  CHECK(Check(R"({"items":[true],"additionalItems":{"type":"null"}})", "[1,2]") ==
        "'[1]' should be null");
  CHECK(Check(R"({"contains":{"type":"null"}})", "[1]") ==
        "'[0]' should be null, '' should contain a valid item");
  CHECK(Check(R"({"contains":{}})", "[]") == "'' should contain a valid item");
  CHECK(Check(R"({"contains":{"type":"null"}})", "[1,null]") == "");
}

TEST_CASE("Engine: uniqueItems tells the pair that ajv finds") {
  CHECK(Check(R"({"uniqueItems":true})", R"([{"a":1,"b":2},0,{"b":2.0,"a":1},0])") ==
        "'' should NOT have duplicate items (items ## 1 and 3 are identical)");
  CHECK(Check(R"({"uniqueItems":true,"items":{"type":"string"}})", R"(["a","b","a","b"])") ==
        "'' should NOT have duplicate items (items ## 3 and 1 are identical)");
  CHECK(Check(R"({"uniqueItems":true,"items":{"type":["string","number"]}})", R"(["1",1])") == "");
  CHECK(Check(R"({"uniqueItems":true})", "[0,-0]") ==
        "'' should NOT have duplicate items (items ## 0 and 1 are identical)");
}

TEST_CASE("Engine: const and enum compare as deep equality of doubles") {
  CHECK(Check(R"({"const":{"a":[1,{"b":null}]}})", R"({"a":[1.0,{"b":null}]})") == "");
  CHECK(Check(R"({"const":9007199254740992})", "9007199254740993") == "");
  CHECK(Check(R"({"enum":["a",1,null,[2]]})", "[2]") == "");
  CHECK(Check(R"({"enum":[false]})", "0") == "'' should be equal to one of the allowed values");
  CHECK(Errors(R"({"const":{"b":1,"1":2}})", "0") ==
        R"([{"keyword":"const","dataPath":"","schemaPath":"#/const",)"
        R"("params":{"allowedValue":{"1":2,"b":1}},"message":"should be equal to constant"}])");
}

TEST_CASE("Engine: not, anyOf, oneOf, allOf, if") {
  CHECK(Check(R"({"not":{"type":"null"}})", "null") == "'' should NOT be valid");
  CHECK(Check(R"({"not":{}})", "1") == "'' should NOT be valid");
  CHECK(Check(R"({"anyOf":[{"type":"null"},{"minimum":3}]})", "1") ==
        "'' should be null, '' should be >= 3, '' should match some schema in anyOf");
  CHECK(Check(R"({"anyOf":[{"type":"null"},{}]})", "1") == "");
  CHECK(
      Errors(R"({"oneOf":[true,{"type":"null"},{"type":"integer"}]})", "1") ==
      R"([{"keyword":"type","dataPath":"","schemaPath":"#/oneOf/1/type","params":{"type":"null"},)"
      R"("message":"should be null"},{"keyword":"oneOf","dataPath":"","schemaPath":"#/oneOf",)"
      R"("params":{"passingSchemas":[0,2]},"message":"should match exactly one schema in oneOf"}])");
  CHECK(Check(R"({"allOf":[{"type":"null"},{"minimum":3}]})", "1") ==
        "'' should be null, '' should be >= 3");
  CHECK(Check(R"({"if":{"minimum":3},"then":{"maximum":5},"else":{"type":"null"}})", "9") ==
        "'' should be <= 5, '' should match \"then\" schema");
  CHECK(Check(R"({"if":{"minimum":3},"then":{"maximum":5},"else":{"type":"null"}})", "1") ==
        "'' should be null, '' should match \"else\" schema");
}

TEST_CASE("Engine: boolean schemas") {
  CHECK(Check("false", "1") == "'' boolean schema is false");
  CHECK(Check("true", "1") == "");
  CHECK(Errors(R"({"properties":{"a":false}})", R"({"a":1})") ==
        R"([{"keyword":"false schema","dataPath":".a","schemaPath":"#/properties/a/false schema",)"
        R"("params":{},"message":"boolean schema is false"}])");
}

}  // namespace
}  // namespace sluice
