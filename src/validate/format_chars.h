#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "validate/wtf8.h"

// Classes of ASCII characters for the matchers of formats.
namespace sluice::validate {

inline constexpr std::uint8_t kDigitChar = 1;
inline constexpr std::uint8_t kAlphaChar = 2;
inline constexpr std::uint8_t kHexChar = 4;
inline constexpr std::uint8_t kSchemeChar = 8;       // behind the first: letters, digits, + - .
inline constexpr std::uint8_t kEmailChar = 16;       // of a dot-atom without the dot
inline constexpr std::uint8_t kUnreservedChar = 32;  // RFC 3986: letters, digits, - . _ ~
inline constexpr std::uint8_t kSubDelimChar = 64;    // RFC 3986: ! $ & ' ( ) * + , ; =
inline constexpr std::uint8_t kPathChar = 128;       // RFC 3986: those two, and : @ /

inline constexpr std::array<std::uint8_t, 256> kCharClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&classes](std::string_view chars, std::uint8_t bits) {
    for (const char c : chars) classes[static_cast<unsigned char>(c)] |= bits;
  };
  constexpr std::uint8_t kAlnum = kSchemeChar | kEmailChar | kUnreservedChar | kPathChar;
  add("0123456789", kDigitChar | kHexChar | kAlnum);
  add("abcdefABCDEF", kHexChar);
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", kAlphaChar | kAlnum);
  add("+-.", kSchemeChar);
  add("!#$%&'*+/=?^_`{|}~-", kEmailChar);
  add("-._~", kUnreservedChar | kPathChar);
  add("!$&'()*+,;=", kSubDelimChar | kPathChar);
  add(":@/", kPathChar);
  return classes;
}();

inline bool IsOf(char c, std::uint8_t classes) {
  return (kCharClasses[static_cast<unsigned char>(c)] & classes) != 0;
}
inline bool IsDigitChar(char c) { return c >= '0' && c <= '9'; }

// Reading a text from the left. Past its end there is a NUL, which no rule takes, as no rule takes
// one in the text.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  std::size_t at() const { return at_; }
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::string_view rest() const { return text_.substr(at_); }
  void Skip(std::size_t bytes) { at_ += bytes; }
  bool TakeIf(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeIfOf(std::uint8_t classes) {
    if (done() || !IsOf(text_[at_], classes)) return false;
    ++at_;
    return true;
  }
  // How many characters of the classes were taken, at most `max`.
  std::size_t TakeAll(std::uint8_t classes, std::size_t max = static_cast<std::size_t>(-1)) {
    std::size_t count = 0;
    while (count < max && TakeIfOf(classes)) ++count;
    return count;
  }
  // % and two hexadecimal digits.
  bool TakePercentEncoded() {
    if (Peek() != '%' || !IsOf(Peek(1), kHexChar) || !IsOf(Peek(2), kHexChar)) return false;
    at_ += 3;
    return true;
  }
  bool AtSpace() const {
    std::size_t at = at_;
    return !done() && IsJsSpace(NextCodePoint(text_, at));
  }
  void SkipSpaces() {
    while (AtSpace()) NextCodePoint(text_, at_);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace sluice::validate
