#include "streams/declared_check.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace sluice::streams {
namespace {

const WallTime kNow{std::chrono::milliseconds(1'800'000'000'000)};  // 2027-01-15

std::vector<std::string> ReasonsOf(std::string_view body) {
  std::vector<std::string> reasons;
  ReadDeclarationBody("a.b", body, kNow, reasons);
  return reasons;
}

std::string OnlyReasonOf(std::string_view body) {
  const auto reasons = ReasonsOf(body);
  REQUIRE(reasons.size() == 1);
  return reasons[0];
}

std::vector<std::string> NameReasons(std::string_view name, std::string_view prefix = "eqiad.") {
  std::vector<std::string> reasons;
  CheckStreamName(name, prefix, reasons);
  return reasons;
}

TEST_CASE("ReadDeclarationBody: settings as given, title and expiry") {
  std::vector<std::string> reasons;
  const DeclarationBody body = ReadDeclarationBody(
      "a.b",
      R"({"settings":{"schema_title":"x/y","stream":"a.b","topic_prefixes":null,"topics":["t"],
          "sample":{"unit":"session","rate":0.5},"mine":{"z":[1,2.50]}},
          "expires":"2027-02-01T00:00:00Z"})",
      kNow, reasons);
  CHECK(reasons.empty());
  CHECK(body.schema_title == "x/y");
  CHECK(body.settings_json ==
        R"({"schema_title":"x/y","stream":"a.b","topic_prefixes":null,"topics":["t"],)"
        R"("sample":{"unit":"session","rate":0.5},"mine":{"z":[1,2.5]}})");
  CHECK(body.expires_at == WallTime(std::chrono::milliseconds(1'801'440'000'000)));
}

TEST_CASE("ReadDeclarationBody: every fault is told at once") {
  const auto reasons = ReasonsOf(R"({
      "settings": {"schema_title": 7, "stream": "other", "topics": "t", "canary_events_enabled": 1,
                   "sample": {"unit": "hour", "rate": 1.5}, "message_key_fields": {"k": 1},
                   "producers": {"eventgate": {"enrich_fields_from_http_headers": {"a": 5}},
                                 "metrics_platform_client": {"provide_values": [1]}},
                   "consumers": {"analytics_hive_ingestion": {"spark_job_ingestion_scale": "tiny"}}},
      "expires": "tomorrow", "expiry": 1})");
  const std::vector<std::string> pointers = {
      "/settings/schema_title",
      "/settings/stream",
      "/settings/topics",
      "/settings/canary_events_enabled",
      "/settings/sample/unit",
      "/settings/sample/rate",
      "/settings/message_key_fields/k",
      "/settings/producers/eventgate/enrich_fields_from_http_headers/a",
      "/settings/producers/metrics_platform_client/provide_values",
      "/settings/consumers/analytics_hive_ingestion/spark_job_ingestion_scale",
      "/expires",
      "/expiry"};
  CHECK(reasons.size() == pointers.size());
  for (const std::string& pointer : pointers) {
    CHECK_MESSAGE(
        std::any_of(reasons.begin(), reasons.end(),
                    [&](const std::string& reason) { return reason.starts_with(pointer + ": "); }),
        pointer);
  }
}

TEST_CASE("ReadDeclarationBody: what is missing or no declaration at all") {
  CHECK(OnlyReasonOf("{\"settings\":{}}").starts_with("/settings/schema_title: is missing"));
  CHECK(OnlyReasonOf(R"({"settings":{"schema_title":""}})").starts_with("/settings/schema_title"));
  CHECK(OnlyReasonOf("{}").starts_with("/settings: has to be there"));
  CHECK(OnlyReasonOf("[1]").starts_with("body: has to be a map"));
  CHECK(OnlyReasonOf("{\"settings\":").starts_with("body: line 1"));
  CHECK(OnlyReasonOf("").starts_with("body: "));
  CHECK(OnlyReasonOf(R"({"settings":{"schema_title":"x"},"expires":"2027-01-01T00:00:00Z"})") ==
        "/expires: is in the past");
}

TEST_CASE("CheckStreamName: the letters of topics, and room for the prefix") {
  CHECK(NameReasons("a.B_c-9").empty());
  CHECK(NameReasons("").size() == 1);
  CHECK(NameReasons("/^a/").size() == 1);
  CHECK(NameReasons("a b").size() == 1);
  CHECK(NameReasons("a/b").size() == 1);
  CHECK(NameReasons("ü").size() == 1);
  CHECK(NameReasons("..").size() == 1);
  CHECK(NameReasons("-a").size() == 1);
  CHECK(NameReasons(std::string(243, 'a')).empty());
  CHECK(NameReasons(std::string(244, 'a')).size() == 1);
  CHECK(NameReasons(std::string(249, 'a'), "").empty());
}

}  // namespace
}  // namespace sluice::streams
