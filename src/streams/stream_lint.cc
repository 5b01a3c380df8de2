#include "streams/stream_lint.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <map>

#include "streams/lint_names.h"
#include "streams/lint_schema.h"
#include "streams/lint_settings.h"

namespace sluice::streams {
namespace {

boost::json::object ParseSettings(const StreamSettings& entry) {
  boost::system::error_code error;
  auto value = boost::json::parse(entry.settings_json, error);
  return !error && value.is_object() ? std::move(value.get_object()) : boost::json::object();
}

void LintUse(const StreamSettings& entry, const boost::json::object& settings,
             std::vector<Finding>& findings) {
  const auto* canary = settings.if_contains("canary_events_enabled");
  const auto* destination = settings.if_contains("destination_event_service");
  const bool has_destination = destination != nullptr && destination->is_string();
  if (canary != nullptr && *canary == true && !has_destination) {
    findings.push_back({Severity::kWarning, "canary_without_destination", entry.key,
                        "canary_events_enabled is true, but there is no "
                        "destination_event_service to post them to"});
  }
  if (canary != nullptr && *canary == true && entry.regex) {
    findings.push_back({Severity::kWarning, "canary_of_regex", entry.key,
                        "canary_events_enabled is true, but there is no one name to post to"});
  }
  if (entry.edge_uniques || entry.test_kitchen) {
    findings.push_back({Severity::kNote, "not_supported", entry.key,
                        std::string(entry.edge_uniques ? "producers.eventgate.use_edge_uniques"
                                                       : "producers.test_kitchen") +
                            " is read, but nothing is done about it here"});
  }
}

}  // namespace

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return {};
}

std::vector<Finding> LintStreams(const StreamSnapshot& snapshot, const core::StreamOptions& options,
                                 const FindTitle& find_title) {
  std::vector<Finding> findings;
  std::vector<boost::json::object> settings;
  std::map<std::string_view, std::size_t> order;
  for (std::size_t i = 0; i < snapshot.size(); ++i) {
    const StreamSettings& entry = snapshot.entry(i);
    settings.push_back(ParseSettings(entry));
    order.emplace(entry.key, i);
    if (!entry.has_settings) {
      findings.push_back(
          {Severity::kError, "no_settings", entry.key, "has no settings: its events are refused"});
      continue;
    }
    LintSchema(entry, settings.back(), find_title, findings);
    LintSettings(entry, settings.back(), findings);
    LintUse(entry, settings.back(), findings);
  }
  LintNames(snapshot, settings, options, findings);
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    return order.at(a.stream) < order.at(b.stream);
  });
  return findings;
}

}  // namespace sluice::streams
