#include "daemon/config_diff.h"

#include <algorithm>
#include <variant>

#include "daemon/config_table.h"
#include "daemon/config_value.h"

namespace sluice::daemon {
namespace {

bool NamesStreams(const core::StreamOptions& streams) {
  return !streams.inline_config.empty() || !streams.config_files.empty() ||
         !streams.config_uri.empty();
}

// Whether streams are configured at all is built into what serves them.
bool ChangesAtOnce(const ConfigKey& key, const core::Config& present, const core::Config& next) {
  if (key.reload != Reload::kLive) return false;
  const bool is_source = key.name == "stream_config" || key.name == "stream_config_files" ||
                         key.name == "stream_config_uri";
  return !is_source || NamesStreams(present.streams) == NamesStreams(next.streams);
}

}  // namespace

bool ConfigChange::Touches(std::string_view prefix) const {
  return std::any_of(applied.begin(), applied.end(),
                     [&](const std::string& name) { return name.starts_with(prefix); });
}

ConfigChange CompareConfigs(const core::Config& present, const core::Config& next) {
  ConfigChange change;
  auto merged = std::make_shared<core::Config>(present);
  core::Config from = next;  // a target is reached in a Config that may be written to
  for (const ConfigKey& key : ConfigKeys()) {
    if (FormatValue(key, present, Secrets::kShow) == FormatValue(key, next, Secrets::kShow))
      continue;
    if (!ChangesAtOnce(key, present, next)) {
      change.needs_restart.emplace_back(key.name);
      continue;
    }
    change.applied.emplace_back(key.name);
    std::visit([&](const auto member) { member(*merged) = member(from); }, key.target);
  }
  change.config = std::move(merged);
  return change;
}

}  // namespace sluice::daemon
