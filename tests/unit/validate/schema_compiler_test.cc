#include <doctest/doctest.h>

#include "unit/validate/engine_check.h"

namespace sluice {
namespace {

using test::Problem;
using Declared = validate::CompiledSchema::Declared;

std::shared_ptr<const validate::CompiledSchema> Compiled(std::string_view schema) {
  std::string problem;
  auto compiled = test::Compile("/t/1.0.0", test::ParseJson(schema), {}, nullptr, problem);
  REQUIRE_MESSAGE(compiled != nullptr, problem);
  return compiled;
}

TEST_CASE("SchemaCompiler: trouble names document, pointer, keyword and reason") {
  CHECK(Problem(R"({"properties":{"a":{"format":"no-such"}}})") ==
        "/t/1.0.0#/properties/a: format: unknown format \"no-such\" is used");
  CHECK(Problem(R"({"properties":{"a":{"type":"text"}}})").find("\"/properties/a/type\"") !=
        std::string::npos);
  CHECK(Problem(R"({"properties":{"a":{"minLength":-1}}})") ==
        "/t/1.0.0: schema is invalid: \"/properties/a/minLength\" should be >= 0");
  CHECK(Problem(R"({"$schema":"https://json-schema.org/draft/2020-12/schema"})") ==
        "/t/1.0.0: no schema with key or ref \"https://json-schema.org/draft/2020-12/schema\": "
        "drafts 04, 06 and 07 are known");
  CHECK(Problem(R"({"$id":"/a","id":"/b"})") == "/t/1.0.0#: $id: is different from id");
  CHECK(Problem("3") == "/t/1.0.0: schema should be object or boolean");
}

TEST_CASE("SchemaCompiler: the draft is chosen by $schema") {
  const std::string body = R"("maximum":3,"exclusiveMaximum":true})";
  CHECK(Problem(R"({"$schema":"http://json-schema.org/draft-04/schema#",)" + body) == "");
  CHECK(Problem(R"({"$schema":"http://json-schema.org/draft-06/schema#",)" + body) != "");
  CHECK(Problem("{" + body) != "");
  CHECK(Problem(R"({"$schema":"https://json-schema.org/draft-07/schema#","const":1})") == "");
  CHECK(Problem(R"({"$schema":"http://json-schema.org/draft-07/schema","const":1})") == "");
}

TEST_CASE("SchemaCompiler: what cannot be reached is not compiled") {
  CHECK(Problem(R"({"definitions":{"a":{"format":"no-such"}}})") == "");
  CHECK(Problem(R"({"then":{"format":"no-such"}})") == "");
}

TEST_CASE("SchemaCompiler: unknown keywords are ignored, formats of draft-07 accepted") {
  CHECK(test::Check(R"({"mexLength":1,"descriptions":{"type":7}})", "\"abc\"") == "");
  CHECK(test::Check(R"({"format":"idn-email"})", "\"abc\"") == "");
}

TEST_CASE("CompiledSchema: knows its id and title") {
  const auto schema = Compiled(R"({"$id":"/x/2.0.0","title":"x"})");
  CHECK(schema->uri() == "/t/1.0.0");
  CHECK(schema->id() == "/x/2.0.0");
  CHECK(schema->title() == "x");
  CHECK(Compiled("true")->title() == std::nullopt);
  CHECK(schema->memory_bytes() > 0);
}

TEST_CASE("CompiledSchema: declares what properties, $ref and allOf declare") {
  const auto schema = Compiled(
      R"({"properties":{"meta":{"type":"object","properties":{"dt":{"type":"string"}}},)"
      R"("http":{"$ref":"#/definitions/http"}},)"
      R"("allOf":[{"properties":{"extra":{"type":"string"}}}],)"
      R"("definitions":{"http":{"type":"object","properties":{"client_ip":{"type":"string"}}}}})");
  CHECK(schema->Declares("meta") == Declared::kObject);
  CHECK(schema->Declares("meta.dt") == Declared::kYes);
  CHECK(schema->Declares("meta.id") == Declared::kNo);
  CHECK(schema->Declares("http") == Declared::kObject);
  CHECK(schema->Declares("http.client_ip") == Declared::kYes);
  CHECK(schema->Declares("extra") == Declared::kYes);
}

TEST_CASE("CompiledSchema: declares of a recursive schema ends") {
  const auto schema = Compiled(R"({"properties":{"a":{"$ref":"#"}}})");
  CHECK(schema->Declares("a.a.a") == Declared::kYes);
}

}  // namespace
}  // namespace sluice
