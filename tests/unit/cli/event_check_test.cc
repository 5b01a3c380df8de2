#include "cli/event_check.h"

#include <doctest/doctest.h>

#include <boost/json/parse.hpp>
#include <string>

#include "support/padded.h"
#include "validate/schema_compiler.h"

namespace sluice::cli {
namespace {

core::Result<registry::SchemaPtr> Load(std::string_view uri) {
  if (uri != "/a/1.0.0")
    return core::Error{core::ErrorCode::kSchemaNotFound,
                       "Failed loading schema at " + std::string(uri)};
  const boost::json::value schema = boost::json::parse(
      R"({"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"d":{"type":"string","default":"x"}}})");
  validate::CompileOutcome outcome =
      validate::CompileSchema(uri, schema, {}, [](std::string_view) { return nullptr; });
  REQUIRE(outcome.schema != nullptr);
  return outcome.schema;
}

std::string Verdict(EventCheck& check, const std::string& text) {
  std::string out;
  check.Check(test::Padded(text).view(), out);
  REQUIRE(!out.empty());
  CHECK(out.back() == '\n');
  out.pop_back();
  return out;
}

TEST_CASE("EventCheck: verdicts are those of the contract") {
  EventCheck check({}, Load);
  CHECK(Verdict(check, R"({"$schema":"/a/1.0.0","n":1.0,"d":"y"})") == R"({"status":"valid"})");
  CHECK(Verdict(check, R"({"$schema":"/a/1.0.0","n":1.0})") ==
        R"({"status":"valid","event":{"$schema":"/a/1.0.0","n":1.0,"d":"x"}})");
  const boost::json::value invalid =
      boost::json::parse(Verdict(check, R"({"$schema":"/a/1.0.0","n":"1"})"));
  CHECK(invalid.at("status") == "invalid");
  CHECK(invalid.at("errors").at(0).at("keyword") == "type");
  CHECK(invalid.at("errorsText") == "'.n' should be integer");
  CHECK(
      Verdict(check, R"({"n":1})") ==
      R"({"status":"error","message":"Field(s) $schema were missing from event and could not be extracted."})");
  CHECK(Verdict(check, R"({"$schema":7})") ==
        R"({"status":"error","message":"$schema is not a string"})");
  CHECK(Verdict(check, R"({"$schema":"/b"})") ==
        R"({"status":"error","message":"Failed loading schema at /b"})");
  CHECK(boost::json::parse(Verdict(check, "{")).at("status") == "error");
  CHECK(boost::json::parse(Verdict(check, "")).at("status") == "error");
  CHECK(check.totals().events == 8);
  CHECK(check.totals().valid == 2);
  CHECK(!check.totals().all_valid());
  CHECK(check.totals().Summary() ==
        "8 events: 2 valid, 1 invalid, 5 not checked\n"
        "invalid by keyword: type 1\n"
        "not checked by reason: malformed_body 2, missing_schema_uri 1, schema_not_found 1, "
        "schema_uri_not_allowed 1\n");
}

TEST_CASE("EventCheck: one schema for all, and no defaults, where asked") {
  EventCheck check({"/a/1.0.0", validate::UseDefaults::kNo}, Load);
  CHECK(Verdict(check, R"({"n":1,"$schema":"/b"})") == R"({"status":"valid"})");
  CHECK(boost::json::parse(Verdict(check, "[]")).at("status") == "invalid");
}

TEST_CASE("EventCheck: a dropped duplicate is no default") {
  EventCheck check({"/a/1.0.0", validate::UseDefaults::kYes}, Load);
  CHECK(Verdict(check, R"({"n":"no","d":"y","n":1})") == R"({"status":"valid"})");
  CHECK(Verdict(check, R"({"n":"no","n":1})") == R"({"status":"valid","event":{"n":1,"d":"x"}})");
}

}  // namespace
}  // namespace sluice::cli
