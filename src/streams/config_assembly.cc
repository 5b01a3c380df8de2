#include "streams/config_assembly.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "core/log.h"
#include "core/yaml_json.h"
#include "streams/merge_settings.h"

namespace sluice::streams {
namespace {

constexpr std::size_t kMaxReportedProblems = 100;
constexpr std::size_t kMaxShownBytes = 2000;

core::Error Unavailable(std::string message) {
  return {core::ErrorCode::kStreamConfigUnavailable, std::move(message)};
}

std::string Shown(const boost::json::value& value) {
  std::string text;
  AppendJson(text, value);
  if (text.size() > kMaxShownBytes) text.replace(kMaxShownBytes, std::string::npos, "…");
  return text;
}

// What MediaWiki says beside the streams: an error instead of them, or warnings.
core::Result<void> CheckMediaWiki(const boost::json::object& document, const std::string& name) {
  if (const auto* error = document.if_contains("error")) {
    return Unavailable(name + " holds an error instead of streams: " + Shown(*error));
  }
  if (const auto* warnings = document.if_contains("warnings")) {
    core::Log(core::LogLevel::kWarn, "stream_config_warnings",
              "the stream configuration came with warnings",
              {{"source", name}, {"warnings", Shown(*warnings)}});
  }
  return {};
}

// Follows `object_path` ("streams", "a.b") from the root; `pointer` becomes where it leads.
const boost::json::value* Select(const boost::json::value& root, std::string_view object_path,
                                 std::string& pointer) {
  const boost::json::value* value = &root;
  while (value && !object_path.empty()) {
    const std::string_view name = object_path.substr(0, object_path.find('.'));
    object_path.remove_prefix(std::min(object_path.size(), name.size() + 1));
    core::AppendPointerToken(pointer, name);
    value = value->is_object() ? value->get_object().if_contains(name) : nullptr;
  }
  return value;
}

// A document, parsed, and what was found in it.
struct Parsed {
  boost::json::value root;
  const boost::json::value* streams = nullptr;  // null: only default settings
  const boost::json::value* defaults = nullptr;
  std::string pointer;  // to the streams
};

std::size_t CountOf(const boost::json::value& streams) {
  return streams.is_array() ? streams.get_array().size() : streams.get_object().size();
}

// `parsed.root` stays where it is from now on.
core::Result<void> FindStreams(const ConfigText& text, const std::string& object_path,
                               Parsed& parsed) {
  const auto* map = parsed.root.if_object();
  const bool below = !object_path.empty();
  if (map && (below || text.origin == ConfigText::Origin::kApi)) {
    if (const auto checked = CheckMediaWiki(*map, text.name); !checked.has_value()) return checked;
  }
  parsed.streams = Select(parsed.root, object_path, parsed.pointer);
  const bool at_path = below && parsed.streams != nullptr;
  const bool whole_file = text.origin == ConfigText::Origin::kFiles || !below;
  if (!at_path && whole_file && map) {
    parsed.pointer.clear();
    parsed.streams = &parsed.root;
    const auto* streams = map->if_contains("EventStreams");
    parsed.defaults = map->if_contains("EventStreamsDefaultSettings");
    if (streams || parsed.defaults) {
      parsed.streams = streams;
      parsed.pointer = "/EventStreams";
    }
  }
  if (parsed.defaults && !parsed.defaults->is_object()) {
    return Unavailable(text.name + ": EventStreamsDefaultSettings has to be a map");
  }
  if (!parsed.streams && parsed.defaults) return {};
  const bool named = parsed.streams && (parsed.streams->is_object() ||
                                        (parsed.streams->is_array() && !parsed.pointer.empty()));
  if (!named) {
    return Unavailable(text.name + ": there is no map of streams at '" + object_path +
                       "' (stream_config_object_path)");
  }
  if (CountOf(*parsed.streams) == 0 && (!parsed.defaults || parsed.defaults->get_object().empty()))
    return Unavailable(text.name + " holds no streams");
  return {};
}

std::string Describe(const ConfigText& text, const std::vector<SettingsProblem>& problems) {
  std::vector<std::string> pointers;
  pointers.reserve(problems.size());
  for (const auto& problem : problems) pointers.push_back(problem.pointer);
  const auto lines = core::LinesOf(text.text, pointers);
  std::string message;
  for (std::size_t i = 0; i < problems.size() && i < kMaxReportedProblems; ++i) {
    if (i > 0) message += '\n';
    message += text.name + ":" + std::to_string(lines[i]) + ": " + problems[i].pointer + ": " +
               problems[i].text;
  }
  if (problems.size() > kMaxReportedProblems) {
    message += "\nand " + std::to_string(problems.size() - kMaxReportedProblems) + " more";
  }
  return message;
}

core::Result<boost::json::value> ParseMap(std::string_view json, const std::string& key) {
  if (json.empty()) return boost::json::value(boost::json::object());
  auto parsed = core::ParseYamlOrJson(json, core::ErrorCode::kStreamConfigUnavailable);
  if (!parsed.has_value()) return Unavailable(key + ": " + parsed.error().message);
  if (!parsed->is_object()) return Unavailable(key + " has to be a map");
  return parsed;
}

class Assembly {
 public:
  Assembly(const core::StreamOptions& options, const std::vector<ConfigText>& texts)
      : options_(options), texts_(texts) {}

  core::Result<std::shared_ptr<StaticSnapshot>> Run() {
    const auto streams = ParseMap(options_.inline_config, "stream_config");
    if (!streams.has_value()) return streams.error();
    const auto defaults = ParseMap(options_.default_settings, "stream_config_default_settings");
    if (!defaults.has_value()) return defaults.error();
    Parse();
    if (!message_.empty()) return Unavailable(std::move(message_));
    auto snapshot = std::make_shared<StaticSnapshot>(MergedDefaults(*defaults));
    std::vector<SettingsProblem> problems;
    snapshot->Add(*streams, "", problems);
    for (const SettingsProblem& problem : problems)
      AddLine("stream_config: " + problem.pointer + ": " + problem.text);
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (!parsed_[i].streams) continue;
      problems.clear();
      snapshot->Add(*parsed_[i].streams, parsed_[i].pointer, problems);
      if (!problems.empty()) AddLine(Describe(texts_[i], problems));
    }
    if (!message_.empty()) return Unavailable(std::move(message_));
    return snapshot;
  }

 private:
  void AddLine(const std::string& line) {
    if (!message_.empty()) message_ += '\n';
    message_ += line;
  }

  void Parse() {
    parsed_.resize(texts_.size());
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      auto document =
          core::ParseYamlOrJson(texts_[i].text, core::ErrorCode::kStreamConfigUnavailable);
      if (!document.has_value()) {
        AddLine(texts_[i].name + ": " + document.error().message);
        continue;
      }
      parsed_[i].root = *std::move(document);
      const auto found = FindStreams(texts_[i], options_.config_object_path, parsed_[i]);
      if (!found.has_value()) AddLine(found.error().message);
    }
  }

  // Later documents lie under earlier ones, all under the configuration's own.
  boost::json::object MergedDefaults(const boost::json::value& own) const {
    boost::json::value merged = boost::json::object();
    for (auto parsed = parsed_.rbegin(); parsed != parsed_.rend(); ++parsed) {
      if (parsed->defaults) merged = MergeSettings(merged, *parsed->defaults);
    }
    return std::move(MergeSettings(merged, own).get_object());
  }

  const core::StreamOptions& options_;
  const std::vector<ConfigText>& texts_;
  std::vector<Parsed> parsed_;
  std::string message_;
};

}  // namespace

core::Result<std::shared_ptr<StaticSnapshot>> AssembleConfig(const core::StreamOptions& options,
                                                             const std::vector<ConfigText>& texts) {
  return Assembly(options, texts).Run();
}

}  // namespace sluice::streams
