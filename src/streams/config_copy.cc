#include "streams/config_copy.h"

#include <boost/crc.hpp>
#include <charconv>
#include <utility>

#include "core/iso_time.h"
#include "core/json_text.h"
#include "core/read_file.h"
#include "core/replace_file.h"
#include "core/yaml_json.h"

namespace sluice::streams {
namespace {

constexpr std::string_view kFormat = "sluice-stream-config-1";
constexpr std::size_t kMaxBytes = 1u << 30;

core::Error Unusable(const std::string& path, const std::string& why) {
  return {core::ErrorCode::kStreamConfigUnavailable, path + ": " + why};
}

std::uint32_t Checksum(std::string_view text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  return crc.checksum();
}

std::string Body(const StaticSnapshot& streams) {
  std::string body = R"({"defaults":)";
  AppendJson(body, boost::json::value(streams.defaults()));
  body += R"(,"streams":{)";
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const StreamSettings& entry = streams.entry(i);
    if (i > 0) body += ',';
    core::AppendJsonString(body, entry.key);
    body += ':';
    body += entry.has_settings ? entry.settings_json : "null";
  }
  return body + "}}\n";
}

std::string_view TextOf(const boost::json::object& map, std::string_view name) {
  const auto* value = map.if_contains(name);
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

std::uint64_t NumberOf(const boost::json::object& map, std::string_view name) {
  const auto* value = map.if_contains(name);
  return value && value->is_int64() ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

}  // namespace

std::string SourcesOf(const core::StreamOptions& options) {
  std::string text = options.config_uri + '\n' + options.config_object_path + '\n';
  for (const std::string& file : options.config_files) text += file + '\n';
  text += options.inline_config + '\n' + options.default_settings;
  return std::to_string(Checksum(text)) + '-' + std::to_string(text.size());
}

int WriteConfigCopy(const std::string& path, const std::string& sources,
                    const StaticSnapshot& streams, std::chrono::system_clock::time_point now) {
  const std::string body = Body(streams);
  std::string text = R"({"format":")" + std::string(kFormat) + R"(","sources":)";
  core::AppendJsonString(text, sources);
  text += R"(,"saved":")" + core::FormatIsoTime(now) + R"(","bytes":)" +
          std::to_string(body.size()) + R"(,"crc32":)" + std::to_string(Checksum(body)) + "}\n";
  return core::ReplaceFile(path, text + body);
}

core::Result<ConfigCopy> ReadConfigCopy(const std::string& path, const std::string& sources) {
  constexpr auto kCode = core::ErrorCode::kStreamConfigUnavailable;
  std::string text;
  if (const int error = core::ReadFile(path, kMaxBytes, text))
    return Unusable(path, core::ErrnoText(error));
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return Unusable(path, "is damaged");
  const auto head = core::ParseYamlOrJson(std::string_view(text).substr(0, end), kCode);
  if (!head.has_value() || !head->is_object()) return Unusable(path, "is damaged");
  const boost::json::object& about = head->get_object();
  if (TextOf(about, "format") != kFormat) return Unusable(path, "has a format of another version");
  const std::string_view body = std::string_view(text).substr(end + 1);
  if (NumberOf(about, "bytes") != body.size() || NumberOf(about, "crc32") != Checksum(body))
    return Unusable(path, "is damaged");
  if (TextOf(about, "sources") != sources)
    return Unusable(path, "was made from other sources of stream configuration");
  const auto saved_ms = core::ParseIsoTimeMs(TextOf(about, "saved"));
  auto parsed = core::ParseYamlOrJson(body, kCode);
  if (!saved_ms || !parsed.has_value()) return Unusable(path, "is damaged");
  const auto* defaults = parsed->as_object().if_contains("defaults");
  const auto* streams = parsed->as_object().if_contains("streams");
  if (!defaults || !defaults->is_object() || !streams) return Unusable(path, "is damaged");
  ConfigCopy copy;
  copy.saved = std::chrono::system_clock::time_point(std::chrono::milliseconds(*saved_ms));
  copy.streams = std::make_shared<StaticSnapshot>(defaults->get_object());
  std::vector<SettingsProblem> problems;
  copy.streams->Add(*streams, "/streams", problems);
  if (!problems.empty())
    return Unusable(path, problems.front().pointer + ": " + problems.front().text);
  return copy;
}

}  // namespace sluice::streams
