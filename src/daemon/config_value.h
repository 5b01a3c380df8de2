#pragma once

#include <yaml-cpp/node/node.h>

#include <optional>
#include <string>
#include <string_view>

#include "daemon/config_table.h"

namespace sluice::daemon {

// Puts the YAML value of a key into `config`. On failure returns what is wrong and what to write
// instead, and leaves the member as it was.
std::optional<std::string> StoreValue(const ConfigKey& key, const YAML::Node& value,
                                      core::Config& config);

// Sets or adds one entry of a map-like key.
std::optional<std::string> StoreEntry(const ConfigKey& key, std::string_view entry,
                                      const YAML::Node& value, core::Config& config);

enum class Secrets : std::uint8_t { kShow, kMask };

// The key's value as YAML that StoreValue reads back, in flow style on one line.
std::string FormatValue(const ConfigKey& key, const core::Config& config, Secrets secrets);

// What may be written, for the documentation: "integer, 0 to 65535".
std::string DescribeType(const ConfigKey& key);

// A scalar as YAML, quoted only where it must be.
std::string QuoteYaml(std::string_view text);

}  // namespace sluice::daemon
