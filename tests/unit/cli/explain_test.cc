#include <doctest/doctest.h>

#include <boost/json/parse.hpp>
#include <string>

#include "cli/explain_changes.h"
#include "cli/explain_schema.h"
#include "cli/explain_text.h"
#include "cli/explain_violation.h"
#include "validate/schema_compiler.h"

namespace sluice::cli {
namespace {

namespace json = boost::json;

// What a compiler would be given: the schema, and the documents that it asks for.
void Compile(SchemaBook& book, const std::string& uri, const json::value& schema,
             const json::value* other = nullptr) {
  const auto compile = book.Recording(
      [&](std::string_view, const json::value&, const registry::DocumentLookup& documents) {
        if (other != nullptr) CHECK(documents("/other/1.0.0") == other);
        return validate::CompileOutcome{};
      });
  compile(uri, schema, [&](std::string_view) { return other; });
}

json::object ErrorOf(const char* text) { return json::parse(text).get_object(); }

TEST_CASE("StepsOf: every form of a path in errors") {
  CHECK(StepsOf("").empty());
  CHECK(StepsOf(".a.b") == FieldSteps{"a", "b"});
  CHECK(StepsOf(".a[0][12].b") == FieldSteps{"a", "0", "12", "b"});
  CHECK(StepsOf("['x-y'].z['it\\'s']") == FieldSteps{"x-y", "z", "it's"});
  CHECK(FieldName({}) == "the event");
  CHECK(FieldName({"a", "0", "b-c"}) == "a[0].b-c");
}

TEST_CASE("SchemaBook: finds the schema of a keyword, also through documents") {
  SchemaBook book;
  const json::value schema = json::parse(
      R"({"properties": {"a/b": {"description": "one", "maxLength": 3}, "l": {"items": [{"type": "string"}]}}})");
  const json::value other = json::parse(R"({"definitions": {"x": {"description": "two"}}})");
  Compile(book, "/t/1.0.0", schema, &other);
  REQUIRE(book.Holder("/t/1.0.0", "#/properties/a~1b/maxLength"));
  CHECK(TextMember(*book.Holder("/t/1.0.0", "#/properties/a~1b/maxLength"), "description") ==
        "one");
  CHECK(book.Holder("/t/1.0.0", "#/properties/a%2Fb/maxLength") != nullptr);
  CHECK(book.Holder("/t/1.0.0", "#/properties/l/items/0/type") != nullptr);
  CHECK(book.Holder("/t/1.0.0", "#/properties/none/type") == nullptr);
  CHECK(book.Holder("/t/1.0.0", "#/properties/l/items/7/type") == nullptr);
  CHECK(book.Holder("/t/1.0.0", "no pointer") == nullptr);
  REQUIRE(book.Holder("/t/1.0.0", "/other/1.0.0#/definitions/x/type"));
  CHECK(TextMember(*book.Holder("/t/1.0.0", "/other/1.0.0#/definitions/x/type"), "description") ==
        "two");
}

TEST_CASE("DeclarationAt: properties, elements and maps") {
  const json::value schema = json::parse(
      R"({"properties": {"list": {"items": {"properties": {"n": {"description": "d"}}}},
                         "map": {"additionalProperties": {"description": "m"}}, "none": true}})");
  CHECK(TextMember(*DeclarationAt(schema, {"list", "3", "n"}), "description") == "d");
  CHECK(TextMember(*DeclarationAt(schema, {"map", "any"}), "description") == "m");
  CHECK(DeclarationAt(schema, {"none"}) == nullptr);
  CHECK(DeclarationAt(schema, {"none", "below"}) == nullptr);
  CHECK(DeclarationAt(schema, {"absent"}) == nullptr);
}

TEST_CASE("ViolationTeller: an error that the schema says nothing about keeps its own words") {
  SchemaBook book;
  Compile(book, "/t/1.0.0", json::parse("{}"));
  const json::value event = json::parse(R"({"a": 1})");
  const ViolationTeller teller(book, "/t/1.0.0", event);
  const Violation told = teller.Tell(ErrorOf(
      R"({"keyword": "odd", "dataPath": ".a", "schemaPath": "#/gone/odd", "params": {}, "message": "should be even"})"));
  CHECK(told.field == "a");
  CHECK(told.found == "1");
  CHECK(told.problem == "should be even");
  CHECK(told.description.empty());
  // Nor does an event that could not be read, or an error without anything, do harm.
  const json::value nothing;
  CHECK(ViolationTeller(book, "/t/1.0.0", nothing).Tell(ErrorOf("{}")).field == "the event");
  CHECK(ViolationTeller(book, "/no/1.0.0", nothing)
            .Tell(ErrorOf(R"({"keyword": "required", "dataPath": ".x"})"))
            .problem == "is missing");
}

TEST_CASE("ChangesBetween: what was put in, what was replaced, in order") {
  const auto changes =
      ChangesBetween(R"({"a": 1, "m": {"dt": "x"}, "l": [{}, {"k": 1}]})",
                     R"({"a":1,"m":{"dt":"y","id":"z"},"l":[{"k":0},{"k":1}],"n":{"b":{"c":2}}})");
  REQUIRE(changes.size() == 4);
  CHECK(changes[0].field == "m.dt");
  CHECK(changes[0].before == "\"x\"");
  CHECK(changes[0].value == "\"y\"");
  CHECK(changes[1].field == "m.id");
  CHECK(changes[1].before.empty());
  CHECK(changes[2].field == "l[0].k");
  CHECK(changes[3].field == "n.b.c");
  CHECK(changes[3].value == "2");
  CHECK(ChangesBetween("{}", "no JSON").empty());
  CHECK(ChangesBetween(R"({"a": [1, 2]})", R"({"a":[1,2]})").empty());
}

TEST_CASE("JsonText: numbers as people write them") {
  CHECK(JsonText(json::parse(R"({"a": [1, 9.5, -3, 18446744073709551615], "b": null})")) ==
        R"({"a": [1, 9.5, -3, 18446744073709551615], "b": null})");
}

TEST_CASE("Cut: between letters, and says how long it was") {
  CHECK(Cut("short") == "short");
  const std::string text = std::string(99, 'x') + "\xc3\xa4" + "rest";
  CHECK(Cut(text) == std::string(99, 'x') + "... (105 bytes)");
}

TEST_CASE("ParseLoosely: deep texts are read, half a surrogate pair is null") {
  CHECK(ParseLoosely(std::string(500, '[') + std::string(500, ']')).is_array());
  CHECK(ParseLoosely(R"({"a": "\ud800"})").is_null());
}

}  // namespace
}  // namespace sluice::cli
