#pragma once

#include "cli/arguments.h"

// The options of every command that works by a configuration.
namespace sluice::cli {

inline constexpr OptionSpec kConfigOption{
    "--config", "FILE", "YAML file; its keys: docs/configuration.md, or man sluice.yaml"};
inline constexpr OptionSpec kSetOption{"--set", "key.path=value",
                                       "override a key, value read as YAML", Repeat::kMany};

}  // namespace sluice::cli
