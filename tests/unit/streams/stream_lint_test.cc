#include "streams/stream_lint.h"

#include <doctest/doctest.h>

#include <boost/json/parse.hpp>
#include <map>

#include "streams/lint_names.h"
#include "validate/pattern.h"
#include "validate/schema_compiler.h"

using namespace sluice;
using namespace sluice::streams;

namespace {

constexpr const char* kDocument = R"({
  "$schema": "https://json-schema.org/draft-07/schema#", "$id": "/x/1.0.0", "title": "x",
  "type": "object", "required": ["page", "user"],
  "properties": {
    "page": {"type": "object", "required": ["id"],
             "properties": {"id": {"type": "integer"}, "title": {"type": "string"}}},
    "user": {"type": "string"}},
  "examples": [{"page": {"id": 1}}]})";

TitleSchema Schema(const char* document) {
  TitleSchema schema;
  schema.uri = "/x/1.0.0";
  schema.document = boost::json::parse(document);
  auto outcome = validate::CompileSchema(schema.uri, schema.document, {},
                                         [](std::string_view) { return nullptr; });
  REQUIRE_MESSAGE(outcome.schema, outcome.error.message);
  schema.compiled = outcome.schema;
  return schema;
}

// "severity kind stream" of each finding.
std::vector<std::string> Lint(const std::string& streams, const std::string& prefix = {}) {
  core::StreamOptions options;
  options.inline_config = streams;
  options.topic_prefix = prefix;
  const auto snapshot = ReadStreamConfig(options);
  REQUIRE_MESSAGE(snapshot.has_value(), (snapshot ? "" : snapshot.error().message));
  std::map<std::string, TitleSchema, std::less<>> schemas;
  schemas.emplace("x", Schema(kDocument));
  schemas.emplace("other", Schema(kDocument));
  schemas.emplace("bare", Schema(R"({"title": "bare", "type": "object"})"));
  const auto findings = LintStreams(
      **snapshot, options, [&](std::string_view title) -> core::Result<const TitleSchema*> {
        const auto found = schemas.find(title);
        if (found != schemas.end()) return &found->second;
        if (title == "broken") {
          return core::Error{core::ErrorCode::kSchemaUnusable, "why"};
        }
        return core::Error{core::ErrorCode::kSchemaNotFound, "none"};
      });
  std::vector<std::string> rows;
  for (const Finding& finding : findings) {
    CHECK_FALSE(finding.text.empty());
    rows.push_back(std::string(ToString(finding.severity)) + ' ' + std::string(finding.kind) + ' ' +
                   finding.stream);
  }
  return rows;
}

using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("LintStreams: a good stream has no findings") {
  CHECK(Lint(R"({"a.b": {"schema_title": "x", "destination_event_service": "s",
    "canary_events_enabled": true, "sample": {"unit": "session", "rate": 0.5},
    "message_key_fields": {"id": "page.id"}, "topics": null, "topic_prefixes": ["e."],
    "producers": {"eventgate": {"enrich_fields_from_http_headers": {"a": "b", "c": false}}},
    "consumers": {"analytics_hive_ingestion": {"enabled": true}}}})",
             "e.") == Rows{});
  CHECK(Lint(R"({"a": {"schema_title": "x",
    "producers": {"eventgate": {"enrich_fields_from_http_headers": false}}}})") == Rows{});
}

TEST_CASE("LintStreams: schemas") {
  CHECK(Lint(R"({"a": {}})") == Rows{"error no_schema_title a"});
  CHECK(Lint(R"({"a": {"schema_title": ""}})") == Rows{"error no_schema_title a"});
  CHECK(Lint(R"({"a": null})") == Rows{"error no_settings a"});
  CHECK(Lint(R"({"a": {"schema_title": "/x"}})") == Rows{"error schema_title_slash a"});
  CHECK(Lint(R"({"a": {"schema_title": "y"}})") == Rows{"error schema_not_found a"});
  CHECK(Lint(R"({"a": {"schema_title": "broken"}})") == Rows{"error schema_unusable a"});
  CHECK(Lint(R"({"a": {"schema_title": "other"}})") == Rows{"error schema_title_differs a"});
}

TEST_CASE("LintStreams: fields of the message key") {
  CHECK(Lint(R"({"a": {"schema_title": "x", "message_key_fields": {"k": "page.name"}}})") ==
        Rows{"error key_field_missing a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "message_key_fields": {"k": "nothing"}}})") ==
        Rows{"error key_field_missing a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "message_key_fields": {"k": "page.title"}}})") ==
        Rows{"warning key_field_optional a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "message_key_fields": {"k": "user"}}})") == Rows{});
}

TEST_CASE("LintStreams: canary events") {
  CHECK(Lint(R"({"a": {"schema_title": "x", "canary_events_enabled": true}})") ==
        Rows{"warning canary_without_destination a"});
  CHECK(Lint(R"({"a": {"schema_title": "bare", "canary_events_enabled": true,
                       "destination_event_service": "s"}})") ==
        Rows{"error canary_without_example a"});
  CHECK(Lint(R"({"/^a/": {"schema_title": "x", "canary_events_enabled": true,
                          "destination_event_service": "s"}})") ==
        Rows{"warning canary_of_regex /^a/"});
}

TEST_CASE("LintStreams: unknown settings, wrong types, samples") {
  CHECK(Lint(R"({"a": {"schema_title": "x", "canary_event_enabled": true}})") ==
        Rows{"warning unknown_setting a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "producers": {"eventgate": {"nope": 1}}}})") ==
        Rows{"warning unknown_setting a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "canary_events_enabled": "true"}})") ==
        Rows{"error wrong_type a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "consumers": []}})") == Rows{});
  CHECK(Lint(R"({"a": {"schema_title": "x", "sample": {"unit": "page", "rate": 1}}})") ==
        Rows{"error bad_sample a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "sample": {"unit": "session", "rate": 1.5}}})") ==
        Rows{"error bad_sample a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "sample": {"rate": 0}}})") ==
        Rows{"error bad_sample a"});
  CHECK(Lint(R"({"a": {"schema_title": "x", "producers": {
    "eventgate": {"use_edge_uniques": true}}}})") == Rows{"note not_supported a"});
}

TEST_CASE("LintStreams: names that come to the same table or topic") {
  const std::string ingested =
      R"({"schema_title": "x", "consumers": {"analytics_hive_ingestion": {"enabled": true}}})";
  const std::string plain = R"({"schema_title": "x"})";
  CHECK(Lint(R"({"a.b": )" + ingested + R"(, "a-b": )" + ingested + "}") ==
        Rows{"error table_collision a-b"});
  CHECK(Lint(R"({"a.b": )" + ingested + R"(, "A-B": )" + plain + "}") ==
        Rows{"warning table_collision A-B"});
  CHECK(Lint(R"({"a.b": )" + plain + R"(, "a_b": )" + plain + "}") ==
        Rows{"error topic_collision a_b", "warning table_collision a_b"});
  CHECK(Lint(R"({"a b": )" + plain + "}") == Rows{"error bad_topic_name a b"});
  CHECK(Lint("{\"" + std::string(250, 'a') + "\": " + plain + "}").size() == 1);
  CHECK(TableOf("eventlogging_NavigationTiming") == "navigationtiming");
  CHECK(TableOf("mediawiki.page_change.v1") == "mediawiki_page_change_v1");
  CHECK(TableOf("resource-purge") == "resource_purge");
  CHECK(TableOf("1a") == "_a");
}

TEST_CASE("LintStreams: the topic that is written has to be one that is read") {
  CHECK(Lint(R"({"a": {"schema_title": "x", "topics": ["e.b"]}})", "e.") ==
        Rows{"warning topic_differs a"});
  CHECK(Lint(R"({"a": {"schema_title": "x"}})", "e.") == Rows{"warning topic_differs a"});
  CHECK(Lint(R"({"eventlogging_A": {"schema_title": "x"}})", "e.") == Rows{});
  CHECK(Lint(R"({"a": {"schema_title": "x", "topics": ["e.b"]}})") == Rows{});
}

TEST_CASE("LintStreams: regexes that stand in each other's way") {
  const std::string plain = R"({"schema_title": "x"})";
  CHECK(Lint(R"({"/^a\\..+/": )" + plain + R"(, "/^a\\.b\\..+/": )" + plain + "}") ==
        Rows{R"(warning regex_shadowed /^a\.b\..+/)"});
  CHECK(Lint(R"({"/^a\\.b\\..+/": )" + plain + R"(, "/^c\\..+/": )" + plain + "}") == Rows{});
  CHECK(Lint(R"({"/a/": )" + plain + "}") == Rows{"warning regex_not_anchored /a/"});
  CHECK(Lint(R"({"/^a/i": )" + plain + "}") == Rows{"error regex_modifiers /^a/i"});
  CHECK(Lint(R"({"/^a\\..+/": )" + plain + R"(, "a.b": )" + plain + "}") ==
        Rows{"note name_within_regex a.b"});
}

TEST_CASE("LikelyMatch: is matched, for the regexes that are in use") {
  for (const char* pattern :
       {R"(^swift\.(.+\.)?upload-complete$)", R"(^mediawiki\.job\..+)", "^a[0-9]+b{2,3}$",
        "^(?:a|b)c*?", R"(^\w+\.\d+$)", "^(a(b|c)d)+$", "[^x]y", R"([\]a]z)", "a|b", ""}) {
    CAPTURE(pattern);
    const auto compiled = validate::Pattern::Compile(pattern);
    REQUIRE(compiled.has_value());
    const bool matches = (*compiled)->Search(LikelyMatch(pattern)) == validate::MatchResult::kMatch;
    // Repetitions are put once, so a count of two is not met: then nothing is reported.
    CHECK(matches == (std::string_view(pattern) != "^a[0-9]+b{2,3}$"));
  }
  for (const char* broken : {"(", "[", "\\", "a{", "(?", "a)b|", "[\\"}) {
    CAPTURE(broken);
    CHECK(LikelyMatch(broken).size() < 10);
  }
}
