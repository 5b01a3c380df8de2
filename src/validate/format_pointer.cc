#include "validate/format_chars.h"
#include "validate/format_rules.h"

namespace sluice::validate {
namespace {

// (?:\/(?:[^~/]|~0|~1)*)*$
bool IsPointer(TextCursor cursor) {
  if (!cursor.done() && cursor.Peek() != '/') return false;
  const std::string_view text = cursor.rest();
  for (std::size_t at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 2)) {
    if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) return false;
  }
  return true;
}

}  // namespace

// /^(?:\/(?:[^~/]|~0|~1)*)*$/
bool IsJsonPointer(std::string_view text) { return IsPointer(TextCursor(text)); }

// /^(?:0|[1-9][0-9]*)(?:#|(?:\/(?:[^~/]|~0|~1)*)*)$/
bool IsRelativeJsonPointer(std::string_view text) {
  TextCursor cursor(text);
  if (!cursor.TakeIf('0') && cursor.TakeAll(kDigitChar) == 0) return false;
  if (cursor.TakeIf('#')) return cursor.done();
  return IsPointer(cursor);
}

// /^#(?:\/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~0|~1)*)*$/i
bool IsJsonPointerUriFragment(std::string_view text) {
  TextCursor cursor(text);
  if (!cursor.TakeIf('#')) return false;
  if (!cursor.done() && cursor.Peek() != '/') return false;
  while (!cursor.done()) {
    if (cursor.TakePercentEncoded() || cursor.TakeIf('/') || cursor.TakeIf(':') ||
        cursor.TakeIf('@')) {
      continue;
    }
    if (cursor.TakeIf('~')) {
      if (!cursor.TakeIf('0') && !cursor.TakeIf('1')) return false;
      continue;
    }
    if (!cursor.TakeIfOf(kUnreservedChar | kSubDelimChar)) return false;
  }
  return true;
}

// /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
bool IsUuid(std::string_view text) {
  constexpr std::string_view kPrefix = "urn:uuid:";
  constexpr std::size_t kLength = 36;
  if (text.size() == kPrefix.size() + kLength) {
    for (std::size_t i = 0; i < kPrefix.size(); ++i) {
      const char c = text[i];
      if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kPrefix[i]) return false;
    }
    text.remove_prefix(kPrefix.size());
  }
  if (text.size() != kLength) return false;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return false;
  std::uint8_t all = kHexChar;
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      all &= kCharClasses[static_cast<unsigned char>(text[i])];
  };
  add(0, 8);
  add(9, 13);
  add(14, 18);
  add(19, 23);
  add(24, kLength);
  return all != 0;
}

}  // namespace sluice::validate
