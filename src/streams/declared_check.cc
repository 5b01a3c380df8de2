#include "streams/declared_check.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "core/iso_time.h"
#include "core/yaml_json.h"
#include "streams/settings_reader.h"

namespace sluice::streams {
namespace {

constexpr std::size_t kMaxTopicChars = 249;  // Kafka's

enum class Kind {
  kText,
  kTruth,
  kMap,
  kTexts,        // a list of strings
  kTextsOrNull,  // null: none, which is not the same as absent
  kRate,         // 0 to 1
  kUnit,
  kScale,
};

struct Rule {
  std::array<std::string_view, 3> path;
  Kind kind;
};

// The settings that somebody reads, besides those of the gate, which ReadSettings checks.
constexpr Rule kRules[] = {
    {{"destination_event_service"}, Kind::kText},
    {{"topics"}, Kind::kTextsOrNull},
    {{"topic_prefixes"}, Kind::kTextsOrNull},
    {{"canary_events_enabled"}, Kind::kTruth},
    {{"sample"}, Kind::kMap},
    {{"sample", "unit"}, Kind::kUnit},
    {{"sample", "rate"}, Kind::kRate},
    {{"producers", "eventgate", "use_edge_uniques"}, Kind::kTruth},
    {{"producers", "mediawiki_eventbus"}, Kind::kMap},
    {{"producers", "mediawiki_eventbus", "enabled"}, Kind::kTruth},
    {{"producers", "mediawiki_eventbus", "event_service_name"}, Kind::kText},
    {{"producers", "metrics_platform_client"}, Kind::kMap},
    {{"producers", "metrics_platform_client", "provide_values"}, Kind::kTexts},
    {{"producers", "test_kitchen"}, Kind::kMap},
    {{"producers", "test_kitchen", "is_test_kitchen_stream"}, Kind::kTruth},
    {{"consumers"}, Kind::kMap},
    {{"consumers", "analytics_hadoop_ingestion"}, Kind::kMap},
    {{"consumers", "analytics_hadoop_ingestion", "enabled"}, Kind::kTruth},
    {{"consumers", "analytics_hadoop_ingestion", "job_name"}, Kind::kText},
    {{"consumers", "analytics_hive_ingestion"}, Kind::kMap},
    {{"consumers", "analytics_hive_ingestion", "enabled"}, Kind::kTruth},
    {{"consumers", "analytics_hive_ingestion", "spark_job_ingestion_scale"}, Kind::kScale},
};

bool IsTexts(const boost::json::value& value) {
  const auto* list = value.if_array();
  return list && std::all_of(list->begin(), list->end(),
                             [](const boost::json::value& each) { return each.is_string(); });
}

bool IsOneOf(const boost::json::value& value, std::initializer_list<std::string_view> words) {
  const auto* text = value.if_string();
  return text && std::find(words.begin(), words.end(), std::string_view(*text)) != words.end();
}

bool IsRate(const boost::json::value& value) {
  if (!value.is_number()) return false;
  const double rate = value.to_number<double>();
  return rate >= 0 && rate <= 1;
}

// What `value` has to be and is not; empty: it is.
std::string_view Complaint(Kind kind, const boost::json::value& value) {
  switch (kind) {
    case Kind::kText:
      return value.is_string() ? "" : "has to be a string";
    case Kind::kTruth:
      return value.is_bool() ? "" : "has to be true or false";
    case Kind::kMap:
      return value.is_object() ? "" : "has to be a map";
    case Kind::kTexts:
      return IsTexts(value) ? "" : "has to be a list of strings";
    case Kind::kTextsOrNull:
      return value.is_null() || IsTexts(value) ? "" : "has to be a list of strings, or null";
    case Kind::kRate:
      return IsRate(value) ? "" : "has to be a number from 0 to 1";
    case Kind::kUnit:
      return IsOneOf(value, {"pageview", "session", "device"})
                 ? ""
                 : "has to be pageview, session or device";
    case Kind::kScale:
      return IsOneOf(value, {"small", "medium", "large"}) ? "" : "has to be small, medium or large";
  }
  return {};
}

void CheckRule(const Rule& rule, const boost::json::object& settings,
               std::vector<std::string>& reasons) {
  const boost::json::object* map = &settings;
  const boost::json::value* value = nullptr;
  std::string pointer = "/settings";
  for (const std::string_view name : rule.path) {
    if (name.empty()) break;
    if (!map) return;  // its own rule has said so
    value = map->if_contains(name);
    if (!value) return;
    core::AppendPointerToken(pointer, name);
    map = value->if_object();
  }
  // Null takes back what the default settings say.
  if (value->is_null()) return;
  const std::string_view complaint = Complaint(rule.kind, *value);
  pointer += ": ";
  const bool told = std::any_of(reasons.begin(), reasons.end(), [&](const std::string& reason) {
    return reason.starts_with(pointer);  // by ReadSettings
  });
  if (!complaint.empty() && !told) reasons.push_back(pointer + std::string(complaint));
}

void CheckSettings(std::string_view name, const boost::json::value& settings,
                   std::vector<std::string>& reasons, DeclarationBody& body) {
  const auto& map = settings.get_object();
  std::vector<SettingsProblem> problems;
  const StreamSettings read =
      ReadSettings(name, boost::json::object(), settings, "/settings", problems);
  for (const SettingsProblem& problem : problems)
    reasons.push_back(problem.pointer + ": " + problem.text);
  const auto* title = map.if_contains("schema_title");
  if (!title || title->is_null()) {
    reasons.emplace_back("/settings/schema_title: is missing; it says which schema events have");
  } else if (title->is_string() && title->get_string().empty()) {
    reasons.emplace_back("/settings/schema_title: must not be empty");
  }
  if (const auto* stream = map.if_contains("stream")) {
    const auto* text = stream->if_string();
    if (!text || std::string_view(*text) != name)
      reasons.emplace_back("/settings/stream: has to be the name in the path, or missing");
  }
  for (const Rule& rule : kRules) CheckRule(rule, map, reasons);
  body.schema_title = read.schema_title.value_or("");
  AppendJson(body.settings_json, settings);
}

void CheckExpires(const boost::json::value& value, WallTime now, std::vector<std::string>& reasons,
                  DeclarationBody& body) {
  if (value.is_null()) return;
  const auto* text = value.if_string();
  const auto ms = text ? core::ParseIsoTimeMs(*text) : std::nullopt;
  if (!ms) {
    reasons.emplace_back("/expires: has to be a time such as 2030-01-01T00:00:00Z, or null");
    return;
  }
  body.expires_at = WallTime(std::chrono::milliseconds(*ms));
  if (*body.expires_at <= now) reasons.emplace_back("/expires: is in the past");
}

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

void CheckStreamName(std::string_view name, std::string_view topic_prefix,
                     std::vector<std::string>& reasons) {
  if (name.starts_with('/')) {
    reasons.emplace_back("name: streams of a regular expression cannot be declared");
  } else if (name.empty() || !std::all_of(name.begin(), name.end(), IsNameChar)) {
    reasons.emplace_back("name: may have letters, digits, '.', '_' and '-' only");
  } else if (name.front() == '.' || name.front() == '-') {
    reasons.emplace_back("name: has to begin with a letter, a digit or '_'");
  }
  if (name.size() + topic_prefix.size() > kMaxTopicChars) {
    reasons.push_back("name: is too long, its topic would have more than " +
                      std::to_string(kMaxTopicChars) + " characters");
  }
}

DeclarationBody ReadDeclarationBody(std::string_view name, std::string_view body, WallTime now,
                                    std::vector<std::string>& reasons) {
  DeclarationBody read;
  const auto document = core::ParseYamlOrJson(body, core::ErrorCode::kMalformedBody);
  if (!document.has_value()) {
    reasons.push_back("body: " + document.error().message);
    return read;
  }
  const auto* map = document->if_object();
  if (!map) {
    reasons.emplace_back(R"(body: has to be a map such as {"settings": {"schema_title": "a/b"}})");
    return read;
  }
  const auto* settings = map->if_contains("settings");
  if (!settings || !settings->is_object()) {
    reasons.emplace_back("/settings: has to be there, and a map");
  } else {
    CheckSettings(name, *settings, reasons, read);
  }
  if (const auto* expires = map->if_contains("expires")) CheckExpires(*expires, now, reasons, read);
  for (const auto& member : *map) {
    if (member.key() == "settings" || member.key() == "expires") continue;
    std::string pointer;
    core::AppendPointerToken(pointer, member.key());
    reasons.push_back(pointer + ": is unknown here; there are settings and expires");
  }
  return read;
}

}  // namespace sluice::streams
