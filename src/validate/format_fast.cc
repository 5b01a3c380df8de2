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

// Digits at the positions of `0` in the template, of which `1` to `5` are upper bounds, other
// characters as they are.
template <std::size_t kSize>
bool Fits(const char* p, const char (&shape)[kSize]) {
  for (std::size_t i = 0; i + 1 < kSize; ++i) {
    const char s = shape[i];
    if (s >= '1' && s <= '9') {
      if (p[i] < '0' || p[i] > s) return false;
    } else if (p[i] != s) {
      return false;
    }
  }
  return true;
}

// (?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)
bool FitsTimeOfDay(const char* p) {
  return Fits(p, "29:59:59") || std::memcmp(p, "23:59:60", 8) == 0;
}

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
      return Fits(p + 1, "99");
    case 5:
      return Fits(p + 1, "9999");
    case 6:
      return Fits(p + 1, "99:99");
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

}  // namespace

// /^\d\d\d\d-[0-1]\d-[0-3]\d$/
bool IsDate(std::string_view text) { return text.size() == 10 && Fits(text.data(), "9999-19-39"); }

// /^(?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)?$/i
bool IsTime(std::string_view text) {
  return text.size() >= 8 && FitsTimeOfDay(text.data()) &&
         FitsFractionAndZone(text.data() + 8, text.data() + text.size(), Zone::kOptional);
}

// /^\d\d\d\d-[0-1]\d-[0-3]\d[t\s](?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)$/i
bool IsDateTime(std::string_view text) {
  if (text.size() < 20 || !Fits(text.data(), "9999-19-39")) return false;
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
  for (std::size_t at = cursor.at(); at < text.size(); ++at) {
    if (KindAt(text, at) == ByteKind::kSpace) return false;
  }
  return true;
}

// /^(?:(?:[a-z][a-z0-9+\-.]*:)?\/?\/)?(?:[^\\\s#][^\s#]*)?(?:#[^\\\s]*)?$/i
// The first part never decides: it can be empty, and what it takes the second could take as well.
bool IsUriReference(std::string_view text) {
  if (text.empty()) return true;
  if (text.front() == '\\') return false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const ByteKind kind = KindAt(text, at);
    if (kind == ByteKind::kSpace) return false;
    if (kind == ByteKind::kHash) break;
  }
  for (; at < text.size(); ++at) {
    const ByteKind kind = KindAt(text, at);
    if (kind == ByteKind::kSpace || kind == ByteKind::kBackslash) return false;
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
