#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

// JSON as a person writes it: numbers without exponent where they need none.
std::string JsonText(const boost::json::value& value);

// `text` in one line, cut between letters where it is long.
std::string Cut(std::string_view text);

// "a, b, c and 4 more".
std::string List(const std::vector<std::string_view>& names);

// Parses an event's text, which may nest as deep as events may. Null if it has what Boost does not
// take, such as half a surrogate pair.
boost::json::value ParseLoosely(std::string_view text);

}  // namespace sluice::cli
