#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"

namespace sluice::daemon {

// What a reload comes to.
struct ConfigChange {
  // What will be in force: the present configuration with every changed key that reloads.
  std::shared_ptr<const core::Config> config;
  std::vector<std::string> applied;        // names of the keys that change with it
  std::vector<std::string> needs_restart;  // of those that differ, and stay as they were at start

  // Whether one of the keys that change begins with `prefix`.
  bool Touches(std::string_view prefix) const;
};

// Holds every key of `next` against what is in force.
ConfigChange CompareConfigs(const core::Config& present, const core::Config& next);

}  // namespace sluice::daemon
