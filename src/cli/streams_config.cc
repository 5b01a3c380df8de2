#include "cli/streams_config.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "core/json_text.h"
#include "core/log.h"
#include "daemon/config_reader.h"
#include "streams/settings_reader.h"

namespace sluice::cli {
namespace {

void AppendPretty(std::string& out, const boost::json::value& value, std::size_t indent) {
  const std::string inner(indent + 2, ' ');
  const std::string outer(indent, ' ');
  const char* before = "\n";
  if (value.is_object() && !value.get_object().empty()) {
    out += '{';
    for (const auto& member : value.get_object()) {
      out.append(before).append(inner);
      core::AppendJsonString(out, member.key());
      out += ": ";
      AppendPretty(out, member.value(), indent + 2);
      before = ",\n";
    }
    out.append("\n").append(outer).append("}");
  } else if (value.is_array() && !value.get_array().empty()) {
    out += '[';
    for (const auto& element : value.get_array()) {
      out.append(before).append(inner);
      AppendPretty(out, element, indent + 2);
      before = ",\n";
    }
    out.append("\n").append(outer).append("]");
  } else {
    streams::AppendJson(out, value);
  }
}

}  // namespace

std::optional<int> ReadStreamsConfig(const Arguments& arguments, StreamsInput& input) {
  const daemon::ConfigReading reading =
      daemon::ReadConfig({std::string(arguments.Value("--config")), arguments.Values("--set")});
  bool usable = true;
  for (const auto& problem : reading.problems) {
    // Most of these commands look at no schema; the others say so themselves.
    if (problem.key == "schema_base_uris" && reading.config.schemas.base_uris.empty()) continue;
    Print(stderr, problem.Line() + '\n');
    usable = false;
  }
  if (!usable) return kUsage;
  input.config = reading.config;
  core::ConfigureLog(input.config.log);
  return std::nullopt;
}

std::optional<int> ReadStreams(const Arguments& arguments, StreamsInput& input) {
  if (const auto failed = ReadStreamsConfig(arguments, input)) return failed;
  auto streams = streams::ReadStreamConfig(input.config.streams);
  if (!streams) return Misused(streams.error().message);
  if (!*streams) {
    return Misused(
        "no streams are configured: give --config FILE, or --set stream_config_uri=FILE");
  }
  input.streams = *std::move(streams);
  return std::nullopt;
}

boost::json::object SettingsOf(const streams::StreamSettings& entry) {
  boost::system::error_code error;
  auto value = boost::json::parse(entry.settings_json, error);
  if (error || !value.is_object()) return {};
  boost::json::object settings = std::move(value.get_object());
  if (!entry.topics.configured) settings.erase("topics");
  return settings;
}

std::string TextOf(const boost::json::object& settings, std::string_view name) {
  const auto* value = settings.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string PrettyJson(const boost::json::value& value) {
  std::string out;
  AppendPretty(out, value, 0);
  return out;
}

std::string Column(std::string_view text, std::size_t width) {
  std::string out(text);
  out.append(out.size() < width ? width - out.size() : 1, ' ');
  return out;
}

}  // namespace sluice::cli
