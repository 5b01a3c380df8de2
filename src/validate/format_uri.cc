#include "validate/format_host.h"
#include "validate/format_rules.h"

namespace sluice::validate::full {
namespace {

enum class Charset : std::uint8_t { kUri, kIri };
enum class Scheme : std::uint8_t { kRequired, kOptional };

// RFC 3987: ucschar.
bool IsUcsCharacter(char32_t c) {
  if (c < 0x10000) {
    return (c >= 0xA0 && c <= 0xD7FF) || (c >= 0xF900 && c <= 0xFDCF) ||
           (c >= 0xFDF0 && c <= 0xFFEF);
  }
  return c < 0xF0000 && (c & 0xFFFF) < 0xFFFE && (c < 0xE0000 || c >= 0xE1000);
}

// RFC 3987: iprivate.
bool IsPrivateCharacter(char32_t c) {
  return (c >= 0xE000 && c <= 0xF8FF) || (c >= 0xF0000 && (c & 0xFFFF) < 0xFFFE);
}

// RFC 3986, section 3 and 4, and RFC 3987, 2.2, which differ in characters only.
class UriReader {
 public:
  UriReader(std::string_view text, Charset charset) : cursor_(text), charset_(charset) {}

  bool Read(Scheme scheme) {
    if (!TakeScheme() && scheme == Scheme::kRequired) return false;
    if (cursor_.Peek() == '/' && cursor_.Peek(1) == '/') {
      cursor_.Skip(2);
      if (!TakeAuthority()) return false;
      if (!cursor_.done() && cursor_.Peek() != '/' && cursor_.Peek() != '?' &&
          cursor_.Peek() != '#') {
        return false;
      }
    } else if (!has_scheme_) {
      // The first segment of a relative path has no colon: it would be a scheme.
      while (TakeCharacter("@", Private::kNo)) {
      }
      if (cursor_.Peek() == ':') return false;
    }
    while (cursor_.TakeAll(kPathChar) > 0 || TakeCharacter("", Private::kNo)) {
    }
    if (cursor_.TakeIf('?')) {
      while (cursor_.TakeAll(kPathChar) > 0 || TakeCharacter("?", Private::kYes)) {
      }
    }
    if (cursor_.TakeIf('#')) {
      while (cursor_.TakeAll(kPathChar) > 0 || TakeCharacter("?", Private::kNo)) {
      }
    }
    return cursor_.done();
  }

 private:
  enum class Private : std::uint8_t { kNo, kYes };

  bool TakeScheme() {
    TextCursor ahead = cursor_;
    if (!ahead.TakeIfOf(kAlphaChar)) return false;
    ahead.TakeAll(kSchemeChar);
    if (!ahead.TakeIf(':')) return false;
    cursor_ = ahead;
    has_scheme_ = true;
    return true;
  }

  // Unreserved, sub-delims, percent-encoded, those in `more`, and what an IRI has above U+007F.
  bool TakeCharacter(std::string_view more, Private with_private) {
    if (cursor_.TakeIfOf(kUnreservedChar | kSubDelimChar) || cursor_.TakePercentEncoded())
      return true;
    if (cursor_.done()) return false;
    if (more.find(cursor_.Peek()) != std::string_view::npos) {
      cursor_.Skip(1);
      return true;
    }
    if (charset_ == Charset::kUri || static_cast<unsigned char>(cursor_.Peek()) < 0x80)
      return false;
    std::size_t length = 0;
    const char32_t c = NextCodePoint(cursor_.rest(), length);
    if (!IsUcsCharacter(c) && !(with_private == Private::kYes && IsPrivateCharacter(c)))
      return false;
    cursor_.Skip(length);
    return true;
  }

  bool TakeAuthority() {
    TextCursor begin = cursor_;
    while (TakeCharacter(":", Private::kNo)) {
    }
    if (!cursor_.TakeIf('@')) cursor_ = begin;  // that was no user information
    if (cursor_.TakeIf('[')) {
      if (!TakeIpLiteral() || !cursor_.TakeIf(']')) return false;
    } else {
      while (TakeCharacter("", Private::kNo)) {
      }
    }
    if (cursor_.TakeIf(':')) cursor_.TakeAll(kDigitChar);
    return true;
  }

  bool TakeIpLiteral() {
    if (!cursor_.TakeIf('v') && !cursor_.TakeIf('V')) return TakeIpv6(cursor_);
    if (cursor_.TakeAll(kHexChar) == 0 || !cursor_.TakeIf('.')) return false;
    std::size_t count = 0;
    while (cursor_.TakeIfOf(kUnreservedChar | kSubDelimChar) || cursor_.TakeIf(':')) ++count;
    return count > 0;
  }

  TextCursor cursor_;
  Charset charset_;
  bool has_scheme_ = false;
};

}  // namespace

bool IsUri(std::string_view text) { return UriReader(text, Charset::kUri).Read(Scheme::kRequired); }
bool IsUriReference(std::string_view text) {
  return UriReader(text, Charset::kUri).Read(Scheme::kOptional);
}
bool IsIri(std::string_view text) { return UriReader(text, Charset::kIri).Read(Scheme::kRequired); }
bool IsIriReference(std::string_view text) {
  return UriReader(text, Charset::kIri).Read(Scheme::kOptional);
}

}  // namespace sluice::validate::full
