#include "core/json_text.h"

#include <array>
#include <cstdint>

namespace sluice::core {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kHexDigits = "0123456789abcdef";

struct Sequence {
  std::size_t length = 1;  // of the sequence, or of the maximal subpart of an ill-formed one
  bool well_formed = false;
};

// The sequence that begins with the non-ASCII byte text[at]. The ranges of the second byte are
// those of the Unicode standard's table 3-7: they leave out overlong forms, surrogates and what
// lies above U+10FFFF.
Sequence Classify(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  std::size_t trail = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    trail = 1;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    trail = 2;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    trail = 3;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {};
  }
  for (std::size_t i = 1; i <= trail; ++i) {
    if (at + i >= text.size() || byte(at + i) < low || byte(at + i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {trail + 1, true};
}

// The UTF-16 code unit if three bytes at `at` are a surrogate in WTF-8, else 0.
unsigned SurrogateAt(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size() || static_cast<unsigned char>(text[at]) != 0xED) return 0;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const auto third = static_cast<unsigned char>(text[at + 2]);
  if (second < 0xA0 || second > 0xBF || third < 0x80 || third > 0xBF) return 0;
  return 0xD000u | (second & 0x3Fu) << 6 | (third & 0x3Fu);
}

void AppendUnicodeEscape(std::string& out, unsigned unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHexDigits[(unit >> shift) & 0xF];
}

// A surrogate in WTF-8. A high one directly before a low one is one character for JavaScript, which
// prints it as such. Returns how many bytes it took.
std::size_t AppendSurrogate(std::string& out, std::string_view text, std::size_t at,
                            unsigned unit) {
  const unsigned next = unit < 0xDC00 ? SurrogateAt(text, at + 3) : 0;
  if (next < 0xDC00) {
    AppendUnicodeEscape(out, unit);
    return 3;
  }
  const unsigned code = 0x10000u + ((unit - 0xD800u) << 10) + (next - 0xDC00u);
  out += static_cast<char>(0xF0u | code >> 18);
  out += static_cast<char>(0x80u | (code >> 12 & 0x3Fu));
  out += static_cast<char>(0x80u | (code >> 6 & 0x3Fu));
  out += static_cast<char>(0x80u | (code & 0x3Fu));
  return 6;
}

void AppendEscapedAscii(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      AppendUnicodeEscape(out, c);
      return;
  }
}

// True for the bytes that a run of plain text ends at.
constexpr std::array<bool, 256> MakeSpecial() {
  std::array<bool, 256> special{};
  for (int c = 0; c < 256; ++c) special[c] = c < 0x20 || c >= 0x80;
  special['"'] = special['\\'] = true;
  return special;
}
constexpr std::array<bool, 256> kSpecial = MakeSpecial();

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  std::size_t run = 0;  // where what was not copied yet begins
  std::size_t at = 0;
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (!kSpecial[c]) {
      ++at;
      continue;
    }
    if (c >= 0x80) {
      const Sequence sequence = Classify(text, at);
      if (sequence.well_formed) {
        at += sequence.length;
        continue;
      }
      out.append(text, run, at - run);
      if (const unsigned unit = SurrogateAt(text, at); unit != 0) {
        at += AppendSurrogate(out, text, at, unit);
      } else {
        out += kReplacement;
        at += sequence.length;
      }
    } else {
      out.append(text, run, at - run);
      AppendEscapedAscii(out, c);
      ++at;
    }
    run = at;
  }
  out.append(text, run, at - run);
  out += '"';
}

std::size_t AppendReplacingInvalidUtf8(std::string& out, std::string_view text) {
  std::size_t replaced = 0;
  std::size_t run = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Sequence sequence = Classify(text, at);
    if (!sequence.well_formed) {
      out.append(text, run, at - run);
      out += kReplacement;
      ++replaced;
      run = at + sequence.length;
    }
    at += sequence.length;
  }
  out.append(text, run, at - run);
  return replaced;
}

}  // namespace sluice::core
