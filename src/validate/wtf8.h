#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Walking through decoded text: UTF-8 in which lone surrogates stand as three bytes each (WTF-8).
// Texts are well-formed in that sense; on other bytes the functions stay inside the text and return
// some code point.
namespace sluice::validate {

inline constexpr char32_t kMaxCodePoint = 0x10FFFF;

inline bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The code point that begins at `at`, which is moved behind it. `at` < text.size().
inline char32_t NextCodePoint(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  char32_t c = lead & (0x3F >> more);
  for (; more > 0 && at < text.size() && IsContinuation(text[at]); --more, ++at) {
    c = c << 6 | (static_cast<unsigned char>(text[at]) & 0x3F);
  }
  return c;
}

// The code point that ends before `at`, which is moved to its beginning. `at` > 0.
inline char32_t PreviousCodePoint(std::string_view text, std::size_t& at) {
  --at;
  for (int i = 0; i < 3 && at > 0 && IsContinuation(text[at]); ++i) --at;
  std::size_t begin = at;
  return NextCodePoint(text, begin);
}

// Appends `c`, a surrogate as three bytes.
void AppendCodePoint(std::string& out, char32_t c);

inline std::u32string ToCodePoints(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) points.push_back(NextCodePoint(text, at));
  return points;
}

// The text as JavaScript holds it: characters above U+FFFF are two surrogates.
inline std::u32string ToCodeUnits(std::string_view text) {
  std::u32string units;
  units.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = NextCodePoint(text, at);
    if (c <= 0xFFFF) {
      units.push_back(c);
    } else {
      units.push_back(0xD800 + ((c - 0x10000) >> 10));
      units.push_back(0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }
  return units;
}

// JavaScript's white space and line terminators, what \s matches.
inline bool IsJsSpace(char32_t c) {
  if (c <= 0x20) return c == 0x20 || (c >= 9 && c <= 13);
  if (c < 0xA0) return false;
  return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

}  // namespace sluice::validate
