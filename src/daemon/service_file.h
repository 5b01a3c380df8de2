#pragma once

#include <span>
#include <string_view>

#include "core/config.h"

// What the original's configuration has that Sluice's does not.
namespace sluice::daemon {

// A key of the original that is accepted and does nothing here.
struct IgnoredKeyName {
  std::string_view
      name;  // in flat form; a name that ends in '.' stands for all keys that begin with it
  std::string_view reason;
};
std::span<const IgnoredKeyName> IgnoredKeyNames();

// The reason why `name` is ignored, or empty if it is not.
std::string_view ReasonIgnored(std::string_view name);

// Another name of a key ("metrics.port" is "admin.port"), or `name` itself.
std::string_view ResolveAlias(std::string_view name);

// Puts in the defaults of the original's server, where they differ from Sluice's.
void ApplyServiceFileDefaults(core::Config& config);

// Whether `eventgate_factory_module` names the original's generic factory (as it also does if it is
// absent).
bool IsGenericFactory(std::string_view module);

// The generic factory validates and forwards, and completes nothing.
void ApplyGenericFactoryDefaults(core::Config& config);

}  // namespace sluice::daemon
