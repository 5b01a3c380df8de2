#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "streams/stream_registry.h"

namespace sluice::streams {

// Something wrong in a stream configuration, and the JSON pointer to it.
struct SettingsProblem {
  std::string pointer;
  std::string text;
};

// Reads what the gate needs of one entry of the configuration (`settings` of the stream or regex
// `key`, found at `pointer`). Null settings are none; members of a wrong type are reported and left
// out. Never fails.
StreamSettings ReadSettings(std::string_view key, const boost::json::value& settings,
                            const std::string& pointer, std::vector<SettingsProblem>& problems);

// `value` as JSON.stringify writes it.
void AppendJson(std::string& out, const boost::json::value& value);

}  // namespace sluice::streams
