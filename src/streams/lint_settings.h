#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "streams/stream_lint.h"

namespace sluice::streams {

// What the settings of one entry say by themselves: names that nobody reads, values of a wrong
// type, a sample that no client can apply.
void LintSettings(const StreamSettings& entry, const boost::json::object& settings,
                  std::vector<Finding>& findings);

}  // namespace sluice::streams
