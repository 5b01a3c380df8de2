#include "streams/lint_settings.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/suggest.h"
#include "streams/settings_reader.h"

namespace sluice::streams {
namespace {

// The settings that some program is known to read, and what they are; "*" is any name.
enum class Type : std::uint8_t { kText, kBool, kNumber, kTexts, kMap, kMapOrFalse, kTextOrFalse };
struct Known {
  std::string_view path;
  Type type;
};
constexpr auto kKnown = std::to_array<Known>({
    {"canary_events_enabled", Type::kBool},
    {"consumers", Type::kMap},
    {"consumers.analytics_hadoop_ingestion", Type::kMap},
    {"consumers.analytics_hadoop_ingestion.enabled", Type::kBool},
    {"consumers.analytics_hadoop_ingestion.job_name", Type::kText},
    {"consumers.analytics_hive_ingestion", Type::kMap},
    {"consumers.analytics_hive_ingestion.enabled", Type::kBool},
    {"consumers.analytics_hive_ingestion.spark_job_ingestion_scale", Type::kText},
    {"destination_event_service", Type::kText},
    {"message_key_fields", Type::kMap},
    {"message_key_fields.*", Type::kText},
    {"producers", Type::kMap},
    {"producers.eventgate", Type::kMap},
    {"producers.eventgate.enrich_fields_from_http_headers", Type::kMapOrFalse},
    {"producers.eventgate.enrich_fields_from_http_headers.*", Type::kTextOrFalse},
    {"producers.eventgate.use_edge_uniques", Type::kBool},
    {"producers.mediawiki_eventbus", Type::kMap},
    {"producers.mediawiki_eventbus.enabled", Type::kBool},
    {"producers.mediawiki_eventbus.event_service_name", Type::kText},
    {"producers.metrics_platform_client", Type::kMap},
    {"producers.metrics_platform_client.provide_values", Type::kTexts},
    {"producers.test_kitchen", Type::kMap},
    {"producers.test_kitchen.is_test_kitchen_stream", Type::kBool},
    {"sample", Type::kMap},
    {"sample.rate", Type::kNumber},
    {"sample.unit", Type::kText},
    {"schema_title", Type::kText},
    {"stream", Type::kText},
    {"topic_prefixes", Type::kTexts},
    {"topics", Type::kTexts},
});

std::string_view Describe(Type type) {
  switch (type) {
    case Type::kText:
      return "a string";
    case Type::kBool:
      return "true or false";
    case Type::kNumber:
      return "a number";
    case Type::kTexts:
      return "a list of strings";
    case Type::kMap:
      return "a map";
    case Type::kMapOrFalse:
      return "a map or false";
    case Type::kTextOrFalse:
      return "a string or false";
  }
  return {};
}

bool Is(const boost::json::value& value, Type type) {
  switch (type) {
    case Type::kText:
      return value.is_string();
    case Type::kBool:
      return value.is_bool();
    case Type::kNumber:
      return value.is_number();
    case Type::kTexts:
      return value.is_array() &&
             std::all_of(value.get_array().begin(), value.get_array().end(),
                         [](const auto& element) { return element.is_string(); });
    case Type::kMap:
      // PHP writes an empty map as [].
      return value.is_object() || (value.is_array() && value.get_array().empty());
    case Type::kMapOrFalse:
      return Is(value, Type::kMap) || value == false;
    case Type::kTextOrFalse:
      return value.is_string() || value == false;
  }
  return false;
}

const Known* FindKnown(const std::string& parent, std::string_view name) {
  const std::string path = parent.empty() ? std::string(name) : parent + '.' + std::string(name);
  const std::string any = parent + ".*";
  for (const Known& known : kKnown) {
    if (known.path == path || known.path == any) return &known;
  }
  return nullptr;
}

class Walk {
 public:
  Walk(const std::string& key, std::vector<Finding>& findings) : key_(key), findings_(findings) {}

  void Visit(const std::string& parent, const boost::json::object& settings) {
    for (const auto& member : settings) {
      const std::string path =
          parent.empty() ? std::string(member.key()) : parent + '.' + std::string(member.key());
      const Known* known = FindKnown(parent, member.key());
      if (known == nullptr) {
        ReportUnknown(path);
      } else if (member.value().is_null()) {
        continue;  // takes back a default
      } else if (!Is(member.value(), known->type)) {
        Report(Severity::kError, "wrong_type",
               path + " has to be " + std::string(Describe(known->type)));
      } else if (member.value().is_object()) {
        Visit(path, member.value().get_object());
      }
    }
  }

  void Report(Severity severity, std::string_view kind, std::string text) {
    findings_.push_back({severity, kind, key_, std::move(text)});
  }

 private:
  void ReportUnknown(const std::string& path) {
    std::vector<std::string_view> paths;
    paths.reserve(kKnown.size());
    for (const Known& known : kKnown) paths.push_back(known.path);
    const std::string_view nearest = core::Nearest(path, paths);
    Report(Severity::kWarning, "unknown_setting",
           path + " is not a setting that any known program reads" +
               (nearest.empty() ? std::string() : "; did you mean " + std::string(nearest) + "?"));
  }

  const std::string& key_;
  std::vector<Finding>& findings_;
};

void LintSample(const boost::json::object& settings, Walk& walk) {
  const auto* sample = settings.if_contains("sample");
  if (sample == nullptr || !sample->is_object()) return;
  constexpr std::array<std::string_view, 3> kUnits = {"pageview", "session", "device"};
  const auto* unit = sample->get_object().if_contains("unit");
  const auto* rate = sample->get_object().if_contains("rate");
  if (unit == nullptr || rate == nullptr) {
    walk.Report(Severity::kError, "bad_sample", "sample needs both unit and rate");
    return;
  }
  if (unit->is_string() && std::find(kUnits.begin(), kUnits.end(),
                                     std::string_view(unit->get_string())) == kUnits.end()) {
    walk.Report(Severity::kError, "bad_sample",
                "sample.unit is " + std::string(unit->get_string()) +
                    "; clients know pageview, session and device");
  }
  if (rate->is_number()) {
    const double number = rate->to_number<double>();
    if (!(number >= 0 && number <= 1)) {
      std::string text = "sample.rate is ";
      AppendJson(text, *rate);
      walk.Report(Severity::kError, "bad_sample", text + ", but has to be from 0 to 1");
    }
  }
}

}  // namespace

void LintSettings(const StreamSettings& entry, const boost::json::object& settings,
                  std::vector<Finding>& findings) {
  Walk walk(entry.key, findings);
  walk.Visit({}, settings);
  LintSample(settings, walk);
}

}  // namespace sluice::streams
