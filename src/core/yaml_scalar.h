#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string_view>

namespace sluice::core {

// What an unquoted YAML scalar means, as js-yaml's default schema has it without timestamps.
boost::json::value PlainScalar(std::string_view text);

// The same, for one type only: nothing if `text` is not of it.
std::optional<boost::json::value> YamlInteger(std::string_view text);
std::optional<boost::json::value> YamlFloat(std::string_view text);
std::optional<boost::json::value> YamlBool(std::string_view text);
bool IsYamlNull(std::string_view text);

// A JSON number's text: int64 where it is an integer within 2^53, else the nearest double (infinity
// above its range).
boost::json::value NumberFromText(std::string_view text);

}  // namespace sluice::core
