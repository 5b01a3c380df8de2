#include "streams/stream_query.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <unordered_set>

#include "core/json_text.h"
#include "streams/stream_topics.h"
#include "validate/pattern.h"

namespace sluice::streams {
namespace {

constexpr std::size_t kMaxValues = 250;
constexpr std::size_t kMaxValuesPrivileged = 500;
constexpr char kUnitSeparator = '\x1f';

// What every module of MediaWiki's API takes; nothing of it changes an answer here.
constexpr std::array<std::string_view, 20> kIgnored = {
    "action",       "format",           "formatversion", "utf8",        "ascii",     "maxlag",
    "smaxage",      "maxage",           "assert",        "assertuser",  "requestid", "servedby",
    "curtimestamp", "responselanginfo", "origin",        "crossorigin", "uselang",   "errorformat",
    "errorlang",    "errorsuselocal"};

const std::string* Find(const Parameters& parameters, std::string_view name) {
  const auto found = std::find_if(parameters.rbegin(), parameters.rend(),
                                  [&](const auto& parameter) { return parameter.first == name; });
  return found == parameters.rend() ? nullptr : &found->second;
}

std::vector<std::string> SplitValues(std::string_view text) {
  char separator = '|';
  if (text.starts_with(kUnitSeparator)) {
    separator = kUnitSeparator;
    text.remove_prefix(1);
  }
  std::vector<std::string> values;
  if (text.empty()) return values;
  while (true) {
    const std::size_t at = text.find(separator);
    values.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return values;
    text.remove_prefix(at + 1);
  }
}

void DropRepeated(std::vector<std::string>& values) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> kept;
  kept.reserve(values.size());  // `seen` views its elements
  for (std::string& value : values) {
    if (seen.contains(value)) continue;
    kept.push_back(std::move(value));
    seen.insert(kept.back());
  }
  values = std::move(kept);
}

QueryError TooMany(std::string_view parameter) {
  QueryError error;
  error.code = "toomanyvalues";
  error.info = "Too many values supplied for parameter \"" + std::string(parameter) +
               "\". The limit is " + std::to_string(kMaxValues) + ".";
  error.more = ",\"parameter\":\"" + std::string(parameter) +
               "\",\"limit\":" + std::to_string(kMaxValues) +
               ",\"lowlimit\":" + std::to_string(kMaxValues) +
               ",\"highlimit\":" + std::to_string(kMaxValuesPrivileged);
  return error;
}

std::string Warnings(const Parameters& parameters) {
  std::vector<std::string_view> unknown;
  for (const auto& [name, ignored] : parameters) {
    if (name == "streams" || name == "constraints" || name == "all_settings") continue;
    if (std::find(kIgnored.begin(), kIgnored.end(), name) != kIgnored.end()) continue;
    if (std::find(unknown.begin(), unknown.end(), name) == unknown.end()) unknown.push_back(name);
  }
  std::string out;
  if (!unknown.empty()) {
    std::string text =
        unknown.size() == 1 ? "Unrecognized parameter: " : "Unrecognized parameters: ";
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      if (i > 0) text += ", ";
      text += unknown[i];
    }
    out += "\"main\":{\"warnings\":";
    core::AppendJsonString(out, text + ".");
    out += '}';
  }
  if (Find(parameters, "all_settings") != nullptr) {
    if (!out.empty()) out += ',';
    out +=
        "\"streamconfigs\":{\"warnings\":\"The parameter \\\"all_settings\\\" has been "
        "deprecated.\"}";
  }
  return out.empty() ? out : '{' + out + '}';
}

std::optional<QueryError> CheckAction(const Parameters& parameters) {
  const std::string* action = Find(parameters, "action");
  if (action == nullptr) {
    return QueryError{"missingparam", "The \"action\" parameter must be set to streamconfigs.", {}};
  }
  if (*action == "streamconfigs") return std::nullopt;
  return QueryError{"badvalue",
                    "Unrecognized value for parameter \"action\": " + action->substr(0, 100) + ".",
                    {}};
}

void AppendEntry(std::string& out, std::size_t begin, std::string_view name,
                 const StreamSettings& settings, ServedAs served_as) {
  if (out.size() > begin) out += ',';
  core::AppendJsonString(out, name);
  out += ':';
  if (served_as == ServedAs::kApi) {
    AppendServed(out, settings.settings_json, settings.topics, name);
  } else {
    out += settings.settings_json;
  }
}

// Asked of one entry alone, unlike StreamSnapshot::Find.
bool IsStream(const StreamSettings& entry, std::string_view name) {
  if (!entry.regex) return entry.key == name;
  return entry.pattern && entry.pattern->Search(name) == validate::MatchResult::kMatch;
}

bool Matches(const StreamSettings& entry, const SettingsConstraints& constraints) {
  if (constraints.empty()) return true;
  boost::system::error_code error;
  const auto settings = boost::json::parse(entry.settings_json, error);
  if (error || !settings.is_object()) return false;
  boost::json::object object = settings.get_object();
  if (!entry.topics.configured) object.erase("topics");
  return constraints.Match(object, [&](std::string_view name) { return IsStream(entry, name); });
}

}  // namespace

std::vector<std::string> SplitNames(std::string_view text, std::string_view separators) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t at = text.find_first_of(separators);
    if (at != 0) names.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  DropRepeated(names);
  return names;
}

QueryReading ReadStreamQuery(const Parameters& parameters) {
  QueryReading reading;
  reading.error = CheckAction(parameters);
  if (reading.error) return reading;
  if (const std::string* streams = Find(parameters, "streams")) {
    reading.query.streams = SplitValues(*streams);
    if (reading.query.streams->size() > kMaxValues) reading.error = TooMany("streams");
    DropRepeated(*reading.query.streams);
  }
  if (const std::string* constraints = Find(parameters, "constraints")) {
    auto pieces = SplitValues(*constraints);
    if (pieces.size() > kMaxValues) reading.error = TooMany("constraints");
    DropRepeated(pieces);
    reading.query.constraints = SettingsConstraints::Parse(pieces);
    reading.query.constraints_text = *constraints;
  }
  reading.query.warnings = Warnings(parameters);
  return reading;
}

void AppendNamed(const StreamSnapshot& snapshot, const std::vector<std::string>& names,
                 ServedAs served_as, std::string& out,
                 const std::function<void(std::string_view)>& unknown) {
  out += '{';
  const std::size_t begin = out.size();
  for (const std::string& name : names) {
    if (const StreamSettings* settings = snapshot.Find(name)) {
      AppendEntry(out, begin, name, *settings, served_as);
    } else {
      unknown(name);
    }
  }
  out += '}';
}

void AppendAll(const StreamSnapshot& snapshot, ServedAs served_as, std::string& out) {
  out += '{';
  const std::size_t begin = out.size();
  for (std::size_t i = 0; i < snapshot.size(); ++i) {
    const StreamSettings& entry = snapshot.entry(i);
    AppendEntry(out, begin, entry.key, entry, served_as);
  }
  out += '}';
}

void AppendAnswer(const StreamSnapshot& snapshot, const StreamQuery& query, std::string& out,
                  const std::function<void(std::string_view)>& unknown) {
  out += '{';
  if (!query.warnings.empty()) {
    out += "\"warnings\":";
    out += query.warnings;
    out += ',';
  }
  out += "\"streams\":";
  if (query.constraints.empty()) {
    if (query.streams) {
      AppendNamed(snapshot, *query.streams, ServedAs::kApi, out, unknown);
    } else {
      AppendAll(snapshot, ServedAs::kApi, out);
    }
    out += '}';
    return;
  }
  out += '{';
  const std::size_t begin = out.size();
  if (query.streams) {
    for (const std::string& name : *query.streams) {
      const StreamSettings* entry = snapshot.Find(name);
      if (entry == nullptr) {
        unknown(name);
      } else if (Matches(*entry, query.constraints)) {
        AppendEntry(out, begin, name, *entry, ServedAs::kApi);
      }
    }
  } else {
    for (std::size_t i = 0; i < snapshot.size(); ++i) {
      const StreamSettings& entry = snapshot.entry(i);
      if (Matches(entry, query.constraints)) {
        AppendEntry(out, begin, entry.key, entry, ServedAs::kApi);
      }
    }
  }
  out += "}}";
}

std::string ErrorAnswer(const QueryError& error) {
  std::string out = "{\"error\":{\"code\":";
  core::AppendJsonString(out, error.code);
  out += ",\"info\":";
  core::AppendJsonString(out, error.info);
  out += error.more;
  return out + "}}";
}

}  // namespace sluice::streams
