#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::validate {

// Appends the decoded content of a JSON string (the bytes between its quotes) to `out`: UTF-8, with
// lone surrogate escapes as three bytes each (WTF-8). Returns the offset of the first bad escape,
// or npos.
std::size_t DecodeJsonString(std::string_view content, std::string& out);

// Appends a well-formed JSON text without the blanks between its tokens.
void AppendWithoutBlanks(std::string_view json, std::string& out);

}  // namespace sluice::validate
