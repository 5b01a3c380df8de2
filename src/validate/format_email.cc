#include "validate/format_host.h"
#include "validate/format_rules.h"

namespace sluice::validate::full {
namespace {

enum class Charset : std::uint8_t { kAscii, kUnicode };

constexpr std::size_t kMaxLocalBytes = 64;
constexpr std::size_t kMaxDomainBytes = 255;

// A character above U+007F, if the mailbox may have some (RFC 6531, 3.3).
bool TakeUnicode(TextCursor& cursor, Charset charset) {
  if (charset == Charset::kAscii || static_cast<unsigned char>(cursor.Peek()) < 0x80) return false;
  std::size_t length = 0;
  const char32_t c = NextCodePoint(cursor.rest(), length);
  if (c >= 0xD800 && c <= 0xDFFF) return false;
  cursor.Skip(length);
  return true;
}

// RFC 5321, 4.1.2: Quoted-string, behind the first quote.
bool TakeQuoted(TextCursor& cursor, Charset charset) {
  while (!cursor.TakeIf('"')) {
    if (TakeUnicode(cursor, charset)) continue;
    cursor.TakeIf('\\');
    const char c = cursor.Peek();
    if (c < 0x20 || c > 0x7E) return false;
    cursor.Skip(1);
  }
  return true;
}

// Dot-string: atoms with dots between.
bool TakeDotString(TextCursor& cursor, Charset charset) {
  do {
    const std::size_t begin = cursor.at();
    while (cursor.TakeIfOf(kEmailChar) || TakeUnicode(cursor, charset)) {
    }
    if (cursor.at() == begin) return false;
  } while (cursor.TakeIf('.'));
  return true;
}

// An address in brackets, or a name.
bool IsDomain(std::string_view text, Charset charset) {
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    constexpr std::string_view kIpv6 = "IPv6:";
    return text.starts_with(kIpv6) ? IsIpv6(text.substr(kIpv6.size())) : IsIpv4(text);
  }
  if (text.size() > kMaxDomainBytes) return false;
  return charset == Charset::kUnicode ? IsIdnHostname(text) : IsHostname(text);
}

bool IsMailbox(std::string_view text, Charset charset) {
  TextCursor cursor(text);
  if (cursor.TakeIf('"') ? !TakeQuoted(cursor, charset) : !TakeDotString(cursor, charset)) {
    return false;
  }
  if (cursor.at() > kMaxLocalBytes || !cursor.TakeIf('@')) return false;
  return IsDomain(cursor.rest(), charset);
}

}  // namespace

bool IsEmail(std::string_view text) { return IsMailbox(text, Charset::kAscii); }
bool IsIdnEmail(std::string_view text) { return IsMailbox(text, Charset::kUnicode); }

bool IsIpv4(std::string_view text) {
  TextCursor cursor(text);
  return TakeIpv4(cursor, LeadingZeros::kNo) && cursor.done();
}

bool IsIpv6(std::string_view text) {
  TextCursor cursor(text);
  return TakeIpv6(cursor) && cursor.done();
}

}  // namespace sluice::validate::full
