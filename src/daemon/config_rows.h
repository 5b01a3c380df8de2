#pragma once

#include <cstdint>
#include <span>

#include "daemon/config_table.h"

// What the sources that hold rows of the table share.
namespace sluice::daemon {

// The rows of output, kafka and spool.
std::span<const ConfigKey> OutputKeys();

// In<&Config::http, &HttpOptions::port> is a function that returns config.http.port.
template <auto... Path>
auto& In(core::Config& config) {
  return (config.*....*Path);
}

inline constexpr std::int64_t kSecond = 1000;
inline constexpr std::int64_t kHour = 3600 * kSecond;
inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;
inline constexpr std::int64_t kGiB = 1024 * kMiB;

// A key that a reload changes at once.
constexpr ConfigKey Live(ConfigKey key) {
  key.reload = Reload::kLive;
  return key;
}

}  // namespace sluice::daemon
