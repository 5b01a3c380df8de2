#pragma once

#include <string>

#include "core/config.h"

// Texts made of the table of keys, so that they cannot say other than the code does.
namespace sluice::daemon {

// The configuration as a flat file that reads back to the same, secrets masked.
std::string EffectiveConfig(const core::Config& config);

// config/production.yaml: every key with a comment.
std::string ProductionExample();

// docs/configuration.md.
std::string ConfigurationPage();

// The man page sluice.yaml(5), in roff.
std::string ConfigurationManual();

}  // namespace sluice::daemon
