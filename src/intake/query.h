#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The query of a request target, as the original's framework reads it.
namespace sluice::intake {

// Percent-decodes. A '%' without two hex digits stays as it is.
std::string DecodePathPart(std::string_view text);

// The same with '+' as blank.
std::string DecodeQueryPart(std::string_view text);

// Whether a parameter of this name is there, whatever its value.
bool HasParameter(std::string_view query, std::string_view name);

// The decoded value of the first parameter of this name that is not empty; nullopt if there is
// none.
std::optional<std::string> FindParameter(std::string_view query, std::string_view name);

// All parameters in their order, names and values decoded.
std::vector<std::pair<std::string, std::string>> AllParameters(std::string_view query);

// Whether `hasty` is asked for: a value that is not empty and not false, 0 or no; also if it is
// repeated or given in a bracketed form, whatever the values.
bool IsHasty(std::string_view query);

}  // namespace sluice::intake
