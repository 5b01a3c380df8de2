#include <bit>
#include <cstring>

#include "validate/format_chars.h"
#include "validate/format_rules.h"
#include "validate/pattern_parse.h"

// Above each function stands the regular expression that it is equal to; /i is without effect above
// U+007F there.
namespace sluice::validate {
namespace {

// \Z is the end of a text in other dialects, and the letter Z in ECMAScript: certainly not what was
// meant.
bool HasForeignEndOfText(std::string_view text) {
  for (std::size_t at = text.find("\\Z"); at != std::string_view::npos;
       at = text.find("\\Z", at + 1)) {
    if (at > 0 && text[at - 1] != '\\') return true;
  }
  return false;
}

}  // namespace
}  // namespace sluice::validate

namespace sluice::validate::fast {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighBits = 0x80 * kOnes;

std::uint64_t Load8(const char* p) {
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return bytes;
}

// Eight characters, each between two bounds, all compared at once.
struct Shape {
  std::uint64_t low = 0;
  std::uint64_t to_high = 0;  // 0x7F less the upper bounds
};

// A digit stands for the digits up to it, any other character for itself.
constexpr Shape MakeShape(std::string_view shape) {
  std::uint64_t low = 0;
  std::uint64_t to_high = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    // The byte order of Load8 on this machine.
    const std::size_t shift = 8 * (std::endian::native == std::endian::little ? i : 7 - i);
    const auto c = static_cast<unsigned char>(shape[i]);
    const bool digit = c >= '0' && c <= '9';
    low |= std::uint64_t{digit ? static_cast<unsigned char>('0') : c} << shift;
    to_high |= std::uint64_t{0x7Fu - c} << shift;
  }
  return {low, to_high};
}

bool Fits(const char* p, const Shape& shape) {
  const std::uint64_t x = Load8(p);
  const std::uint64_t above = x + shape.to_high;                // high bit: above the upper bound
  const std::uint64_t not_below = (x | kHighBits) - shape.low;  // no high bit: below the lower one
  return ((x | above | ~not_below) & kHighBits) == 0;
}

// \d\d\d\d-[0-1]\d-[0-3]\d
bool FitsDate(const char* p) {
  static constexpr Shape kFirst = MakeShape("9999-19-");
  static constexpr Shape kLast = MakeShape("99-19-39");
  return Fits(p, kFirst) && Fits(p + 2, kLast);
}

// (?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)
bool FitsTimeOfDay(const char* p) {
  static constexpr Shape kTime = MakeShape("29:59:59");
  return Fits(p, kTime) || std::memcmp(p, "23:59:60", 8) == 0;
}

bool AreDigits(const char* p) { return IsDigitChar(p[0]) && IsDigitChar(p[1]); }

// (?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?) and then the end, the second group optional if `p` may end
// without a zone.
enum class Zone : std::uint8_t { kRequired, kOptional };
bool FitsFractionAndZone(const char* p, const char* end, Zone zone) {
  if (p != end && *p == '.') {
    const char* const digits = ++p;
    while (p != end && IsDigitChar(*p)) ++p;
    if (p == digits) return false;
  }
  if (p == end) return zone == Zone::kOptional;
  if (*p == 'Z' || *p == 'z') return p + 1 == end;
  if (*p != '+' && *p != '-') return false;
  switch (end - p) {
    case 3:
      return AreDigits(p + 1);
    case 5:
      return AreDigits(p + 1) && AreDigits(p + 3);
    case 6:
      return AreDigits(p + 1) && p[3] == ':' && AreDigits(p + 4);
    default:
      return false;
  }
}

// Bytes that are white space, and those that can begin white space above U+007F.
enum class ByteKind : std::uint8_t { kOther, kSpace, kMaybeSpace, kBackslash, kHash };
constexpr std::array<ByteKind, 256> kByteKinds = [] {
  std::array<ByteKind, 256> kinds{};
  for (const unsigned char c : {9, 10, 11, 12, 13, 32}) kinds[c] = ByteKind::kSpace;
  for (const unsigned char c : {0xC2, 0xE1, 0xE2, 0xE3, 0xEF}) kinds[c] = ByteKind::kMaybeSpace;
  kinds['\\'] = ByteKind::kBackslash;
  kinds['#'] = ByteKind::kHash;
  return kinds;
}();

ByteKind KindAt(std::string_view text, std::size_t at) {
  const ByteKind kind = kByteKinds[static_cast<unsigned char>(text[at])];
  if (kind != ByteKind::kMaybeSpace) return kind;
  return IsJsSpace(NextCodePoint(text, at)) ? ByteKind::kSpace : ByteKind::kOther;
}

// The next character from `at` on that can be something else than kOther, or one before it: visible
// ASCII that is neither a backslash nor below $ is passed over eight at a time.
std::size_t SkipPlain(std::string_view text, std::size_t at) {
  for (; text.size() - at >= 8; at += 8) {
    const std::uint64_t x = Load8(text.data() + at);
    const std::uint64_t backslash = x ^ (kOnes * '\\');
    if (((x | ((x - kOnes * '$') & ~x) | ((backslash - kOnes) & ~backslash)) & kHighBits) != 0)
      break;
  }
  return at;
}

}  // namespace

// /^\d\d\d\d-[0-1]\d-[0-3]\d$/
bool IsDate(std::string_view text) { return text.size() == 10 && FitsDate(text.data()); }

// /^(?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)?$/i
bool IsTime(std::string_view text) {
  return text.size() >= 8 && FitsTimeOfDay(text.data()) &&
         FitsFractionAndZone(text.data() + 8, text.data() + text.size(), Zone::kOptional);
}

// /^\d\d\d\d-[0-1]\d-[0-3]\d[t\s](?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)$/i
bool IsDateTime(std::string_view text) {
  if (text.size() < 20 || !FitsDate(text.data())) return false;
  std::size_t at = 10;
  const char32_t separator = NextCodePoint(text, at);
  if (separator != 'T' && separator != 't' && !IsJsSpace(separator)) return false;
  return text.size() - at >= 9 && FitsTimeOfDay(text.data() + at) &&
         FitsFractionAndZone(text.data() + at + 8, text.data() + text.size(), Zone::kRequired);
}

// /^(?:[a-z][a-z0-9+\-.]*:)(?:\/?\/)?[^\s]*$/i
bool IsUri(std::string_view text) {
  TextCursor cursor(text);
  if (!cursor.TakeIfOf(kAlphaChar)) return false;
  cursor.TakeAll(kSchemeChar);
  if (!cursor.TakeIf(':')) return false;
  std::size_t at = cursor.at();
  while ((at = SkipPlain(text, at)) < text.size()) {
    if (KindAt(text, at++) == ByteKind::kSpace) return false;
  }
  return true;
}

// /^(?:(?:[a-z][a-z0-9+\-.]*:)?\/?\/)?(?:[^\\\s#][^\s#]*)?(?:#[^\\\s]*)?$/i
// The first part never decides: it can be empty, and what it takes the second could take as well.
bool IsUriReference(std::string_view text) {
  if (text.empty()) return true;
  if (text.front() == '\\') return false;
  bool in_fragment = false;
  for (std::size_t at = 0; (at = SkipPlain(text, at)) < text.size(); ++at) {
    const ByteKind kind = KindAt(text, at);
    if (kind == ByteKind::kSpace || (in_fragment && kind == ByteKind::kBackslash)) return false;
    in_fragment |= kind == ByteKind::kHash;
  }
  return true;
}

// function regex in formats.js: /[^\\]\\Z/ is refused, else `new RegExp` decides.
bool IsRegex(std::string_view text) {
  return !HasForeignEndOfText(text) && CheckWebPattern(text).has_value();
}

}  // namespace sluice::validate::fast

namespace sluice::validate::full {

// ECMA-262 without Annex B, which is for web browsers.
bool IsRegex(std::string_view text) {
  return !HasForeignEndOfText(text) && CheckStrictPattern(text).has_value();
}

}  // namespace sluice::validate::full
