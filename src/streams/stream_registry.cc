#include "streams/stream_registry.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "core/log.h"
#include "core/read_file.h"
#include "core/yaml_json.h"
#include "streams/static_snapshot.h"

namespace sluice::streams {
namespace {

constexpr std::size_t kMaxReportedProblems = 100;
constexpr std::size_t kMaxFileBytes = 256u << 20;

core::Error Unavailable(std::string message) {
  return {core::ErrorCode::kStreamConfigUnavailable, std::move(message)};
}

core::Result<std::string> PathOf(std::string_view uri) {
  constexpr std::string_view kFileScheme = "file://";
  if (uri.starts_with(kFileScheme)) return std::string(uri.substr(kFileScheme.size()));
  if (uri.find("://") == std::string_view::npos) return std::string(uri);
  return Unavailable(
      "stream_config_uri " + std::string(uri) +
      ": only files can be read; save its answer to a file and name that, as a path or "
      "file:// URI");
}

// What MediaWiki says beside the streams: an error instead of them, or warnings.
core::Result<void> CheckMediaWiki(const boost::json::object& document, const std::string& path) {
  if (const auto* error = document.if_contains("error")) {
    std::string text;
    AppendJson(text, *error);
    return Unavailable(path + " holds an error instead of streams: " + text);
  }
  if (const auto* warnings = document.if_contains("warnings")) {
    std::string text;
    AppendJson(text, *warnings);
    core::Log(core::LogLevel::kWarn, "stream_config_warnings",
              "the stream configuration came with warnings", {{"file", path}, {"warnings", text}});
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

std::string Describe(const std::string& path, std::string_view text,
                     const std::vector<SettingsProblem>& problems) {
  std::vector<std::string> pointers;
  for (const auto& problem : problems) pointers.push_back(problem.pointer);
  const auto lines = core::LinesOf(text, pointers);
  std::string message;
  for (std::size_t i = 0; i < problems.size() && i < kMaxReportedProblems; ++i) {
    if (i > 0) message += '\n';
    message += path + ":" + std::to_string(lines[i]) + ": " + problems[i].pointer + ": " +
               problems[i].text;
  }
  if (problems.size() > kMaxReportedProblems) {
    message += "\nand " + std::to_string(problems.size() - kMaxReportedProblems) + " more";
  }
  return message;
}

core::Result<std::shared_ptr<StaticSnapshot>> ReadSnapshot(const core::StreamOptions& options) {
  const auto path = PathOf(options.config_uri);
  if (!path) return path.error();
  std::string text;
  if (const int error = core::ReadFile(*path, kMaxFileBytes, text)) {
    return Unavailable("stream_config_uri " + *path + ": " + core::ErrnoText(error));
  }
  const auto document = core::ParseYamlOrJson(text, core::ErrorCode::kStreamConfigUnavailable);
  if (!document) return Unavailable(*path + ": " + document.error().message);
  if (const auto* map = document->if_object(); map && !options.config_object_path.empty()) {
    const auto checked = CheckMediaWiki(*map, *path);
    if (!checked) return checked.error();
  }
  std::string pointer;
  const auto* streams = Select(*document, options.config_object_path, pointer);
  if (!streams || !streams->is_object()) {
    return Unavailable(*path + ": there is no map of streams at '" + options.config_object_path +
                       "' (stream_config_object_path)");
  }
  std::vector<SettingsProblem> problems;
  auto snapshot = StaticSnapshot::Build(streams->get_object(), pointer, problems);
  if (!problems.empty()) return Unavailable(Describe(*path, text, problems));
  return snapshot;
}

}  // namespace

StreamRegistry::StreamRegistry(const core::StreamOptions& options) : options_(options) {}
StreamRegistry::~StreamRegistry() = default;

core::Result<void> StreamRegistry::Load() {
  if (!configured()) return {};
  auto snapshot = ReadSnapshot(options_);
  if (!snapshot) return snapshot.error();
  std::lock_guard lock(mutex_);
  const std::uint64_t generation = generation_.load(std::memory_order_relaxed) + 1;
  (*snapshot)->generation = generation;
  current_ = *std::move(snapshot);
  generation_.store(generation, std::memory_order_release);
  return {};
}

std::shared_ptr<const StreamSnapshot> StreamRegistry::Current() const {
  std::lock_guard lock(mutex_);
  return current_;
}

std::string TopicOf(std::string_view stream, std::string_view topic_prefix) {
  std::string topic;
  if (!stream.starts_with("eventlogging_")) topic += topic_prefix;
  topic += stream;
  return topic;
}

}  // namespace sluice::streams
