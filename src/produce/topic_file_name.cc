#include "produce/topic_file_name.h"

#include <algorithm>

namespace sluice::produce {
namespace {

constexpr std::string_view kSuffix = ".ndjson";
constexpr std::size_t kMaxNameBytes = 255;

bool StandsAsItIs(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

std::optional<std::string> TopicFileName(std::string_view topic) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  if (topic.empty()) return std::nullopt;
  std::string name;
  for (char c : topic) {
    if (StandsAsItIs(c) && !(c == '.' && name.empty())) {
      name += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += '%';
      name += kHex[byte >> 4];
      name += kHex[byte & 15];
    }
    if (name.size() + kSuffix.size() > kMaxNameBytes) return std::nullopt;
  }
  return name.append(kSuffix);
}

}  // namespace sluice::produce
