#include <utility>

#include "validate/pattern_parser.h"
#include "validate/unicode_property.h"
#include "validate/wtf8.h"

namespace sluice::validate {
namespace {

using Kind = PatternNode::Kind;

bool IsOctal(char32_t c) { return c >= '0' && c <= '7'; }
bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }
bool IsLetter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsHigh(char32_t c) { return c >= 0xD800 && c <= 0xDBFF; }
bool IsLow(char32_t c) { return c >= 0xDC00 && c <= 0xDFFF; }
char32_t Join(char32_t high, char32_t low) {
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

int HexDigit(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A') + 10;
  return -1;
}

bool IsNameStart(char32_t c) {
  if (c < 0x80) return IsLetter(c) || c == '$' || c == '_';
  return Pcre2Property("ID_Start").Contains(c);
}

bool IsNamePart(char32_t c) {
  if (c < 0x80) return IsNameStart(c) || IsDigit(c);
  return c == 0x200C || c == 0x200D || Pcre2Property("ID_Continue").Contains(c);
}

}  // namespace

// A backslash and what follows it, outside of a class; not \b and \B.
bool PatternParser::ParseEscape() {
  const std::size_t begin = at_;
  const char32_t c = Peek(1);
  if (c == kEndMarker) return Fail("\\ at the end");
  if (c >= '1' && c <= '9') {
    return ParseNumberEscape();
  }
  if (c == 'k' && has_names_) return ParseNamedReference();
  if (auto set = ParseSetEscape()) {
    PushSet(*std::move(set));
    return true;
  }
  char32_t character = 0;
  at_ = begin;
  if (!ParseCharacterEscape(Where::kOutsideClass, character)) return false;
  PushCharacter(character);
  return true;
}

// A back-reference if there are that many captures; else, as ever on the web, an octal escape or
// the digit itself.
bool PatternParser::ParseNumberEscape() {
  const std::size_t begin = ++at_;
  std::uint32_t number = 0;
  for (; IsDigit(Peek()) && number < kMaxCaptures; ++at_) number = number * 10 + (Peek() - '0');
  if (number <= captures_) {
    if (!build_) return true;
    // Inside of its own group nothing has been captured yet.
    PatternNode node;
    node.kind = IsInsideCapture(number) ? Kind::kEmpty : Kind::kBackReference;
    node.number = number;
    Push(std::move(node));
    return true;
  }
  if (strict_) return Fail("reference to a capture that is not there", begin - 1);
  at_ = begin;
  if (IsOctal(Peek())) {
    PushCharacter(ParseOctal());
  } else {
    PushCharacter(Peek());
    ++at_;
  }
  return true;
}

bool PatternParser::ParseNamedReference() {
  const std::size_t begin = at_;
  at_ += 2;
  std::optional<std::u32string> name;
  if (TakeIf('<')) name = ParseGroupName();
  if (!name) return Fail("invalid named reference", begin);
  const auto index = static_cast<std::uint32_t>(named_references_.size());
  named_references_.push_back({*std::move(name), begin});
  PatternNode node;
  node.kind = Kind::kBackReference;
  node.number = kFirstPlaceholder + index;
  Push(std::move(node));
  return true;
}

// The name and the > behind it. Names may be spelled with escapes.
std::optional<std::u32string> PatternParser::ParseGroupName() {
  std::u32string name;
  while (!TakeIf('>')) {
    char32_t c = Peek();
    if (c == kEndMarker) return std::nullopt;
    ++at_;
    if (c == '\\') {
      if (!TakeIf('u')) return std::nullopt;
      if (TakeIf('{')) {
        c = 0;
        if (HexDigit(Peek()) < 0) return std::nullopt;
        for (; HexDigit(Peek()) >= 0; ++at_) {
          c = c * 16 + static_cast<char32_t>(HexDigit(Peek()));
          if (c > kMaxCodePoint) return std::nullopt;
        }
        if (!TakeIf('}')) return std::nullopt;
      } else {
        const auto unit = ParseHex(4);
        if (!unit) return std::nullopt;
        c = *unit;
        if (IsHigh(c) && Peek() == '\\' && Peek(1) == 'u') {
          const std::size_t here = at_;
          at_ += 2;
          const auto low = ParseHex(4);
          if (low && IsLow(*low)) {
            c = Join(c, *low);
          } else {
            at_ = here;
          }
        }
      }
    } else if (IsHigh(c) && IsLow(Peek())) {
      c = Join(c, Peek());
      ++at_;
    }
    if (name.empty() ? !IsNameStart(c) : !IsNamePart(c)) return std::nullopt;
    name.push_back(c);
  }
  if (name.empty()) return std::nullopt;
  return name;
}

// \d \D \s \S \w \W, and \p \P with a known property. Otherwise nothing is consumed.
std::optional<CodePointSet> PatternParser::ParseSetEscape() {
  static const CodePointSet kDigits{{'0', '9'}};
  static const CodePointSet kWord{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  static const CodePointSet kSpace{
      {9, 13},          {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
      {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
  const char32_t c = Peek(1);
  switch (c) {
    case 'd':
      at_ += 2;
      return kDigits;
    case 'D':
      at_ += 2;
      return kDigits.Complement();
    case 's':
      at_ += 2;
      return kSpace;
    case 'S':
      at_ += 2;
      return kSpace.Complement();
    case 'w':
      at_ += 2;
      return kWord;
    case 'W':
      at_ += 2;
      return kWord.Complement();
    case 'p':
    case 'P':
      return code_points_ ? ParseProperty() : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<CodePointSet> PatternParser::ParseProperty() {
  const bool negative = Peek(1) == 'P';
  std::string name;
  std::size_t end = at_ + 2;
  if (end >= text_.size() || text_[end] != '{') return std::nullopt;
  for (++end; end < text_.size() && name.size() < 80; ++end) {
    const char32_t c = text_[end];
    if (!IsLetter(c) && !IsDigit(c) && c != '_' && c != '=') break;
    name.push_back(static_cast<char>(c));
  }
  if (end >= text_.size() || text_[end] != '}') return std::nullopt;
  const auto set = EcmaScriptProperty(name);
  if (!set) return std::nullopt;
  at_ = end + 1;
  return negative ? set->Complement() : *set;
}

// A backslash and what follows it, when it stands for one character.
bool PatternParser::ParseCharacterEscape(Where where, char32_t& character) {
  const std::size_t begin = at_++;
  const char32_t c = Peek();
  if (c == kEndMarker) return Fail("\\ at the end", begin);
  switch (c) {
    case 'f':
      character = '\f';
      break;
    case 'n':
      character = '\n';
      break;
    case 'r':
      character = '\r';
      break;
    case 't':
      character = '\t';
      break;
    case 'v':
      character = '\v';
      break;
    case 'c': {
      const char32_t letter = Peek(1);
      if (IsLetter(letter) ||
          (where == Where::kInClass && !strict_ && (IsDigit(letter) || letter == '_'))) {
        at_ += 2;
        character = letter & 31;
      } else if (strict_) {
        return Fail("invalid escape", begin);
      } else {
        character = '\\';  // and the c is a character of its own
      }
      return true;
    }
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
      if (strict_ && (c != '0' || IsDigit(Peek(1)))) return Fail("invalid escape", begin);
      character = ParseOctal();
      return true;
    case 'x': {
      ++at_;
      const auto value = ParseHex(2);
      if (strict_ && !value) return Fail("invalid escape", begin);
      character = value ? *value : 'x';
      return true;
    }
    case 'u':
      ++at_;
      character = ParseUnicodeEscape();
      return !strict_ || at_ > begin + 2 || Fail("invalid escape", begin);
    case 'k':
      if (has_names_ || strict_) return Fail("invalid escape", begin);
      character = 'k';
      break;
    default:
      if (strict_ && IsNamePart(c) && c != '$') return Fail("invalid escape", begin);
      character = c;
      break;
  }
  ++at_;
  return true;
}

// Up to three octal digits, as long as the value is below 256.
char32_t PatternParser::ParseOctal() {
  char32_t value = Peek() - '0';
  ++at_;
  for (int more = 0; more < 2 && IsOctal(Peek()) && value < 32; ++more, ++at_) {
    value = value * 8 + (Peek() - '0');
  }
  return value;
}

// Exactly that many digits; otherwise nothing is consumed.
std::optional<char32_t> PatternParser::ParseHex(int digits) {
  char32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const int digit = HexDigit(Peek(static_cast<std::size_t>(i)));
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  at_ += static_cast<std::size_t>(digits);
  return value;
}

// What follows \u. By code points, two escapes that spell a surrogate pair are one character.
char32_t PatternParser::ParseUnicodeEscape() {
  const auto value = ParseHex(4);
  if (!value) return 'u';
  if (code_points_ && IsHigh(*value) && Peek() == '\\' && Peek(1) == 'u') {
    const std::size_t here = at_;
    at_ += 2;
    const auto low = ParseHex(4);
    if (low && IsLow(*low)) return Join(*value, *low);
    at_ = here;
  }
  return *value;
}

bool PatternParser::ParseClass() {
  const std::size_t begin = at_++;
  const bool negative = TakeIf('^');
  std::vector<CodePointSet::Range> ranges;
  const auto add = [&](const ClassAtom& atom) {
    if (!build_) return;
    if (atom.is_set) {
      ranges.insert(ranges.end(), atom.set.ranges().begin(), atom.set.ranges().end());
    } else {
      ranges.push_back({atom.character, atom.character});
    }
  };
  while (Peek() != ']') {
    if (Peek() == kEndMarker) return Fail("unterminated character class", begin);
    const std::size_t first_at = at_;
    ClassAtom first;
    if (!ParseClassAtom(first)) return false;
    if (Peek() != '-' || Peek(1) == ']' || Peek(1) == kEndMarker) {
      add(first);
      continue;
    }
    ++at_;
    ClassAtom last;
    if (!ParseClassAtom(last)) return false;
    if (strict_ && (first.is_set || last.is_set)) return Fail("invalid range", first_at);
    if (first.is_set || last.is_set) {  // then the hyphen is a character
      add(first);
      add({false, '-', {}});
      add(last);
    } else if (first.character > last.character) {
      return Fail("range out of order in character class", first_at);
    } else if (build_) {
      ranges.push_back({first.character, last.character});
    }
  }
  ++at_;
  if (build_) {
    CodePointSet set(std::move(ranges));
    PushSet(negative ? set.Complement() : std::move(set));
  }
  return true;
}

bool PatternParser::ParseClassAtom(ClassAtom& atom) {
  if (Peek() != '\\') {
    atom.character = Peek();
    ++at_;
    return true;
  }
  if (Peek(1) == 'b') {
    at_ += 2;
    atom.character = '\b';
    return true;
  }
  if (auto set = ParseSetEscape()) {
    atom.is_set = true;
    atom.set = *std::move(set);
    return true;
  }
  return ParseCharacterEscape(Where::kInClass, atom.character);
}

}  // namespace sluice::validate
