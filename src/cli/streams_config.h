#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/config_options.h"
#include "core/config.h"
#include "streams/stream_registry.h"

namespace sluice::cli {

// An option that commands of `sluice streams` have in common.
inline constexpr OptionSpec kStreamsJson{"--json", "", "output for programs"};

// What those commands work on.
struct StreamsInput {
  core::Config config;
  std::shared_ptr<const streams::StreamSnapshot> streams;  // null if only the config was asked for
};

// Reads the configuration that --config and --set name. On failure says why on stderr and returns
// the exit code.
std::optional<int> ReadStreamsConfig(const Arguments& arguments, StreamsInput& input);

// The same, and then the streams from all their sources, once.
std::optional<int> ReadStreams(const Arguments& arguments, StreamsInput& input);

// The settings of an entry as a value; without `topics` if they were computed.
boost::json::object SettingsOf(const streams::StreamSettings& entry);

// A member that is a string, or empty.
std::string TextOf(const boost::json::object& settings, std::string_view name);

// `value` as JSON.stringify(value, null, 2) writes it.
std::string PrettyJson(const boost::json::value& value);

// One column: `text` and blanks up to `width`, at least one.
std::string Column(std::string_view text, std::size_t width);

}  // namespace sluice::cli
