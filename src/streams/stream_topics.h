#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "streams/served_topics.h"

namespace sluice::streams {

// Appends `settings` as JSON.stringify writes them and tells about their topics. Topics that stand
// behind the member `stream` and are what would be computed for `key` count as computed: they come
// from another server's answer.
ServedTopics AppendSettings(std::string& out, std::string_view key,
                            const boost::json::object& settings);

// The topics of a stream that has none configured: with the prefixes before its name, or before the
// pattern if `stream` is the text of a regex.
std::vector<std::string> ComputeTopics(std::string_view stream, const ServedTopics& topics);

// Appends the settings text of an entry with the topics that `name` has.
void AppendServed(std::string& out, std::string_view settings_json, const ServedTopics& topics,
                  std::string_view name);

}  // namespace sluice::streams
