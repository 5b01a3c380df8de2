#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "streams/stream_lint.h"

namespace sluice::streams {

// What the names of entries come to together: topics and tables that collide, regexes that stand in
// each other's way.
void LintNames(const StreamSnapshot& snapshot, const std::vector<boost::json::object>& settings,
               const core::StreamOptions& options, std::vector<Finding>& findings);

// The table that the events of a stream are ingested into.
std::string TableOf(std::string_view stream);

// A name that the regex `pattern` (without its slashes) is likely to match: literal characters,
// first alternatives, repetitions once. The caller has to see whether it does.
std::string LikelyMatch(std::string_view pattern);

}  // namespace sluice::streams
