#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "streams/stream_lint.h"

namespace sluice::streams {

// Whether the schema that an entry names exists and has what the entry's settings need of it.
void LintSchema(const StreamSettings& entry, const boost::json::object& settings,
                const FindTitle& find_title, std::vector<Finding>& findings);

}  // namespace sluice::streams
