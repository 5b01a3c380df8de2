#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace sluice::streams {

// `over` laid over `under`, as EventStreamConfig merges default settings: maps key by key, lists by
// index ([c] over [a, b] is [c, b], an empty list changes nothing), anything else replaces, null
// too. Members of `under` come first.
boost::json::value MergeSettings(const boost::json::value& under, const boost::json::value& over);

}  // namespace sluice::streams
