#pragma once

#include <algorithm>
#include <string_view>

namespace sluice::core {

// `text` if it looks like a name of ours (a stream, a schema URI, a request id), else nothing: what
// comes from clients gets into the log only so. A name has letters, digits, '.', '_', '-', ':' and
// '/', and is not longer than 200 characters.
inline std::string_view LoggableName(std::string_view text) {
  constexpr std::size_t kMaxBytes = 200;
  const bool is_name =
      text.size() <= kMaxBytes && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-' || c == ':' || c == '/';
      });
  return is_name ? text : std::string_view();
}

}  // namespace sluice::core
