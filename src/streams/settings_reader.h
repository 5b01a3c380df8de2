#pragma once

#include <boost/json/object.hpp>
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

// Makes the entry `key` of the configuration: `defaults` (a map) with `settings` (found at
// `pointer`) merged over them and `stream` forced to the key. Null settings are none. What is wrong
// is reported and left out: members of a type that cannot be, a regex that is none. Never fails.
StreamSettings ReadSettings(std::string_view key, const boost::json::object& defaults,
                            const boost::json::value& settings, const std::string& pointer,
                            std::vector<SettingsProblem>& problems);

// `value` as JSON.stringify writes it.
void AppendJson(std::string& out, const boost::json::value& value);

}  // namespace sluice::streams
