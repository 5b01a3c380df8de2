#include "validate/format_chars.h"
#include "validate/format_rules.h"

namespace sluice::validate {
namespace {

bool TakeOneOf(TextCursor& cursor, std::string_view characters) {
  if (cursor.done() || characters.find(cursor.Peek()) == std::string_view::npos) return false;
  cursor.Skip(1);
  return true;
}

// (?::[1-9][0-9]{0,3}|\*)?
bool TakeModifier(TextCursor& cursor) {
  if (cursor.TakeIf('*')) return true;
  if (!cursor.TakeIf(':')) return true;
  if (cursor.Peek() == '0' || !cursor.TakeIfOf(kDigitChar)) return false;
  cursor.TakeAll(kDigitChar, 3);
  return true;
}

// Characters of a variable's name, at least one: letters, digits, _ and percent-encoded ones.
bool TakeNamePart(TextCursor& cursor) {
  const std::size_t begin = cursor.at();
  while (cursor.TakeIfOf(kAlphaChar | kDigitChar) || cursor.TakeIf('_') ||
         cursor.TakePercentEncoded()) {
  }
  return cursor.at() != begin;
}

enum class Dots : std::uint8_t { kNotInNames, kInNames };

// Behind the brace: an operator, and names with modifiers and commas between, up to the other
// brace.
bool TakeExpression(TextCursor& cursor, Dots dots) {
  TakeOneOf(cursor, "+#./;?&=,!@|");
  do {
    if (!TakeNamePart(cursor)) return false;
    while (dots == Dots::kInNames && cursor.TakeIf('.')) {
      if (!TakeNamePart(cursor)) return false;
    }
    if (!TakeModifier(cursor)) return false;
  } while (cursor.TakeIf(','));
  return cursor.TakeIf('}');
}

// RFC 6570, 2.1, above U+007F: RFC 3987's ucschar and iprivate.
bool IsLiteralCharacter(char32_t c) {
  if (c < 0xA0 || (c >= 0xD800 && c <= 0xDFFF) || (c >= 0xFDD0 && c <= 0xFDEF)) return false;
  if (c >= 0xFFF0 && c <= 0xFFFF) return false;
  return (c & 0xFFFF) < 0xFFFE && (c < 0xE0000 || c >= 0xE1000);
}

}  // namespace

// /^(?:(?:[^\x00-\x20"'<>%\\^`{|}]|%[0-9a-f]{2})|\{EXPRESSION\})*$/i
bool fast::IsUriTemplate(std::string_view text) {
  constexpr std::string_view kNoLiterals = "\"'<>%\\^`{|}";
  TextCursor cursor(text);
  while (!cursor.done()) {
    if (cursor.TakePercentEncoded()) continue;
    if (cursor.TakeIf('{')) {
      if (!TakeExpression(cursor, Dots::kNotInNames)) return false;
      continue;
    }
    const char c = cursor.Peek();
    if (static_cast<unsigned char>(c) <= 0x20 || kNoLiterals.find(c) != std::string_view::npos) {
      return false;
    }
    cursor.Skip(1);
  }
  return true;
}

bool full::IsUriTemplate(std::string_view text) {
  constexpr std::string_view kNoLiterals = "\"<>%\\^`{|}\x7F";
  TextCursor cursor(text);
  while (!cursor.done()) {
    if (cursor.TakePercentEncoded()) continue;
    if (cursor.TakeIf('{')) {
      if (!TakeExpression(cursor, Dots::kInNames)) return false;
      continue;
    }
    const char ascii = cursor.Peek();
    std::size_t length = 0;
    const char32_t c = NextCodePoint(cursor.rest(), length);
    if (c <= 0x20 || (c < 0x80 && kNoLiterals.find(ascii) != std::string_view::npos)) return false;
    if (c >= 0x80 && !IsLiteralCharacter(c)) return false;
    cursor.Skip(length);
  }
  return true;
}

}  // namespace sluice::validate
