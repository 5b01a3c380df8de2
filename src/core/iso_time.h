#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::core {

// "2020-07-01T00:00:00.000Z": UTC, milliseconds, as JavaScript's Date.toISOString.
std::string FormatIsoTime(std::chrono::system_clock::time_point time);

// Milliseconds since the epoch of a text such as the schemas' loose date-time admits: date, 'T' or
// a blank, time with optional fraction, zone 'Z', "+hh", "+hhmm" or "+hh:mm". Nothing if it is not
// of that form or names no such moment.
std::optional<std::int64_t> ParseIsoTimeMs(std::string_view text);

}  // namespace sluice::core
