#include "validate/format_host.h"
#include "validate/format_rules.h"

// Above each function stands the regular expression that it is equal to; /i is without effect above
// U+007F there. LABEL is [a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?
namespace sluice::validate::fast {
namespace {

// (?:%.+)?\s*$
bool IsZoneAndSpaces(TextCursor cursor) {
  if (cursor.TakeIf('%')) {
    // The zone takes all there is, up to a line terminator, which only white space may follow.
    const std::size_t begin = cursor.at();
    const std::string_view rest = cursor.rest();
    std::size_t at = 0;
    while (at < rest.size()) {
      std::size_t next = at;
      const char32_t c = NextCodePoint(rest, next);
      if (c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029) break;
      at = next;
    }
    cursor.Skip(at);
    if (cursor.at() == begin) return false;
  }
  cursor.SkipSpaces();
  return cursor.done();
}

}  // namespace

// /^(?=.{1,253}\.?$)LABEL(?:\.LABEL)*\.?$/i
bool IsHostname(std::string_view text) {
  TextCursor cursor(text);
  if (!TakeHostLabels(cursor)) return false;
  const std::size_t length = cursor.at();
  cursor.TakeIf('.');
  return cursor.done() && length <= 253;
}

// /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@LABEL(?:\.LABEL)*$/i
bool IsEmail(std::string_view text) {
  TextCursor cursor(text);
  std::size_t local = 0;
  while (cursor.TakeIfOf(kEmailChar) || cursor.TakeIf('.')) ++local;
  return local > 0 && cursor.TakeIf('@') && TakeHostLabels(cursor) && cursor.done();
}

// /^(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d\d?)$/
bool IsIpv4(std::string_view text) {
  TextCursor cursor(text);
  return TakeIpv4(cursor, LeadingZeros::kYes) && cursor.done();
}

// The eight alternatives of formats.js are an address, after which %.+ may come; white space may be
// around.
bool IsIpv6(std::string_view text) {
  TextCursor cursor(text);
  cursor.SkipSpaces();
  return TakeIpv6(cursor) && IsZoneAndSpaces(cursor);
}

}  // namespace sluice::validate::fast
