#pragma once

#include <string>
#include <string_view>

namespace sluice::core {

// Appends `text` (UTF-8, or WTF-8 with lone surrogates) as a JSON string with its quotes, escaped
// as JavaScript's JSON.stringify does: \" \\ \b \f \n \r \t, \u00xx for other controls, lone
// surrogates as \udxxx, all else as it is. Bytes that are no UTF-8 come out as U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

// Copies `text`, replacing each maximal subpart of an ill-formed sequence by U+FFFD as the WHATWG
// decoder (and so Node's Buffer.toString) does. Returns the number of replacements.
std::size_t AppendReplacingInvalidUtf8(std::string& out, std::string_view text);

}  // namespace sluice::core
