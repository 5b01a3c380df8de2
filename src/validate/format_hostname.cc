#include <algorithm>
#include <array>

#include "validate/format_host.h"
#include "validate/format_rules.h"
#include "validate/idn.h"

namespace sluice::validate::full {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::string_view kPrefix = "xn--";

bool IsAscii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// RFC 1123 label; with the prefix of an A-label it must be one (RFC 5890, 2.3.2.1): what it stands
// for is allowed, and is spelled like this.
bool IsAsciiLabel(std::string_view label, BidiRule& bidi) {
  TextCursor cursor(label);
  if (!TakeHostLabel(cursor) || !cursor.done()) return false;
  if (label.size() < kPrefix.size() || ToLower(label.substr(0, kPrefix.size())) != kPrefix) {
    bidi.AddAscii(label);
    return true;
  }
  const std::string lower = ToLower(label);
  const std::string_view code = std::string_view(lower).substr(kPrefix.size());
  const std::u32string decoded = DecodePunycode(code);
  const bool beyond_ascii =
      std::any_of(decoded.begin(), decoded.end(), [](char32_t c) { return c >= 0x80; });
  bidi.Add(decoded);
  return beyond_ascii && IsIdnLabel(decoded) && EncodePunycode(decoded) == code;
}

// The end of the label that begins at `at`, and how long the dot is.
struct LabelEnd {
  std::size_t at;
  std::size_t dot_bytes;
};
LabelEnd FindDot(std::string_view text, std::size_t at) {
  // RFC 3490, 3.1: ideographic, fullwidth and halfwidth full stops separate labels as well.
  static constexpr std::array<std::string_view, 4> kDots = {".", "\u3002", "\uFF0E", "\uFF61"};
  for (; at < text.size(); ++at) {
    for (const std::string_view dot : kDots) {
      if (text.substr(at).starts_with(dot)) return {at, dot.size()};
    }
  }
  return {at, 0};
}

}  // namespace

bool IsHostname(std::string_view text) {
  if (text.size() > kMaxName || !IsAscii(text)) return false;
  BidiRule bidi;
  for (std::size_t at = 0;;) {
    const std::size_t dot = std::min(text.find('.', at), text.size());
    if (!IsAsciiLabel(text.substr(at, dot - at), bidi)) return false;
    if (dot == text.size()) return bidi.Holds();
    at = dot + 1;
  }
}

bool IsIdnHostname(std::string_view text) {
  // A character takes four bytes at most, and each makes at least one of the name's.
  if (text.size() > 4 * kMaxName) return false;
  BidiRule bidi;
  std::size_t name_bytes = 0;
  for (std::size_t at = 0;;) {
    const LabelEnd end = FindDot(text, at);
    const std::string_view label = text.substr(at, end.at - at);
    std::size_t label_bytes = label.size();
    if (IsAscii(label)) {
      if (!IsAsciiLabel(label, bidi)) return false;
    } else {
      const std::u32string points = ToCodePoints(label);
      if (points.size() > kMaxLabel || !IsIdnLabel(points)) return false;
      label_bytes = kPrefix.size() + EncodePunycode(points).size();
      bidi.Add(points);
    }
    name_bytes += label_bytes + (at > 0 ? 1 : 0);
    if (label_bytes > kMaxLabel || name_bytes > kMaxName) return false;
    if (end.dot_bytes == 0) return bidi.Holds();
    at = end.at + end.dot_bytes;
  }
}

}  // namespace sluice::validate::full
