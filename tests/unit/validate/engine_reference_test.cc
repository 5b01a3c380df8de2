#include <doctest/doctest.h>

#include <map>

#include "unit/validate/engine_check.h"

// $ref, ids and other documents.
namespace sluice {
namespace {

using test::Check;
using test::Errors;

std::string WithDocuments(const std::string& schema, const std::string& event,
                          const std::map<std::string, std::string>& documents) {
  std::map<std::string, boost::json::value> values;
  for (const auto& [uri, text] : documents) values.emplace(uri, test::ParseJson(text));
  std::string problem;
  const auto compiled = test::Compile(
      "/a/b/1.0.0", test::ParseJson(schema), {},
      [&values](std::string_view uri) {
        const auto found = values.find(std::string(uri));
        return found == values.end() ? nullptr : &found->second;
      },
      problem);
  return compiled ? test::EngineRunner().Run(*compiled, event).errors_json : problem;
}

TEST_CASE("Engine: errors of an inlined $ref are told below its text") {
  CHECK(Errors(R"({"properties":{"a":{"$ref":"#/definitions/x"}},)"
               R"("definitions":{"x":{"type":"null"}}})",
               R"({"a":1})") ==
        R"([{"keyword":"type","dataPath":".a","schemaPath":"#/definitions/x/type",)"
        R"("params":{"type":"null"},"message":"should be null"}])");
}

TEST_CASE("Engine: errors of a $ref that has references itself are told below #") {
  CHECK(Errors(R"({"properties":{"a":{"$ref":"#"}},"type":"object"})", R"({"a":{"a":1}})") ==
        R"([{"keyword":"type","dataPath":".a.a","schemaPath":"#/type",)"
        R"("params":{"type":"object"},"message":"should be object"}])");
}

TEST_CASE("Engine: keywords beside a $ref are ignored, but for a type that is told first") {
  const std::string definitions = R"(,"definitions":{"x":{"minimum":3}}})";
  CHECK(Check(R"({"$ref":"#/definitions/x","maxLength":1)" + definitions, "\"abc\"") == "");
  CHECK(Check(R"({"$ref":"#/definitions/x","type":"integer")" + definitions, "\"abc\"") ==
        "'' should be integer");
  CHECK(Check(R"({"$ref":"#/definitions/x","type":"string","maxLength":1)" + definitions, "5") ==
        "");
}

TEST_CASE("Engine: a $ref leads to other documents") {
  const std::string other = R"({"$id":"/fragment/x/1.0.0","type":"object",)"
                            R"("properties":{"n":{"$ref":"#/definitions/n"}},)"
                            R"("definitions":{"n":{"type":"integer"}}})";
  CHECK(WithDocuments(R"({"properties":{"o":{"$ref":"/fragment/x/1.0.0#"}}})", R"({"o":{"n":"x"}})",
                      {{"/fragment/x/1.0.0", other}}) ==
        R"([{"keyword":"type","dataPath":".o.n","schemaPath":"#/definitions/n/type",)"
        R"("params":{"type":"integer"},"message":"should be integer"}])");
  CHECK(WithDocuments(R"({"$ref":"/fragment/x/1.0.0#/definitions/n"})", "1",
                      {{"/fragment/x/1.0.0", other}}) == "");
}

TEST_CASE("SchemaCompiler: names every document that it needs") {
  const auto outcome = validate::CompileSchema(
      "/a/b/1.0.0",
      test::ParseJson(
          R"({"properties":{"x":{"$ref":"../c/2.0.0"},"y":{"$ref":"/d/3.0.0#/properties/z"},)"
          R"("z":{"$ref":"/d/3.0.0"}}})"),
      {}, nullptr);
  CHECK(outcome.schema == nullptr);
  CHECK(outcome.error.message == "");
  CHECK(outcome.needed == std::vector<std::string>{"/a/c/2.0.0", "/d/3.0.0"});
}

TEST_CASE("SchemaCompiler: a nested $id takes no document's place") {
  // The embedded copy is found by its own document, a document that has the id by all others.
  const std::string embedded = R"({"properties":{"u":{"$id":"/frag/1.0.0","type":"null"}}})";
  CHECK(WithDocuments(R"({"allOf":[{"$ref":"/e/1.0.0"},{"$ref":"/frag/1.0.0"}]})", "1",
                      {{"/frag/1.0.0", R"({"type":"integer"})"}, {"/e/1.0.0", embedded}})
            .empty() == false);
  CHECK(WithDocuments(R"({"allOf":[{"$ref":"/frag/1.0.0"},{"$ref":"/e/1.0.0"}]})", "1",
                      {{"/frag/1.0.0", R"({"type":"integer"})"}, {"/e/1.0.0", embedded}}) == "");
}

TEST_CASE("Engine: the meta-schemas are at hand as documents") {
  CHECK(Check(R"({"$ref":"https://json-schema.org/draft-07/schema#"})", R"({"type":"text"})") !=
        "");
  CHECK(Check(R"({"$ref":"http://json-schema.org/draft-04/schema"})", R"({"type":"string"})") ==
        "");
}

TEST_CASE("SchemaCompiler: says which reference cannot be followed") {
  CHECK(test::Problem(R"({"properties":{"a":{"$ref":"#/definitions/x"}}})") ==
        "/t/1.0.0#/properties/a: $ref: can't resolve reference #/definitions/x from id /t/1.0.0: "
        "nothing is at /definitions");
  CHECK(test::Problem(R"({"$ref":"#"})") == "/t/1.0.0#: $ref: refers to itself");
}

}  // namespace
}  // namespace sluice
