#include "validate/json_string.h"

#include <cstdint>
#include <cstring>

namespace sluice::validate {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four digits behind "\u" at `at`; negative if they are not there.
std::int32_t CodeUnit(std::string_view s, std::size_t at) {
  if (at + 4 > s.size()) return -1;
  std::int32_t unit = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = HexDigit(s[i]);
    if (digit < 0) return -1;
    unit = unit << 4 | digit;
  }
  return unit;
}

void AppendCodePoint(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | c >> 6));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | c >> 12));
    out.push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | c >> 18));
    out.push_back(static_cast<char>(0x80 | (c >> 12 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

char SimpleEscape(char c) {
  switch (c) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '/':
      return '/';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

}  // namespace

std::size_t DecodeJsonString(std::string_view s, std::string& out) {
  std::size_t i = 0;
  while (i < s.size()) {
    const void* found = std::memchr(s.data() + i, '\\', s.size() - i);
    const std::size_t slash = found ? static_cast<const char*>(found) - s.data() : s.size();
    out.append(s.substr(i, slash - i));
    if (slash == s.size()) break;
    const char kind = slash + 1 < s.size() ? s[slash + 1] : 0;
    if (kind != 'u') {
      const char c = SimpleEscape(kind);
      if (c == 0) return slash;
      out.push_back(c);
      i = slash + 2;
      continue;
    }
    const std::int32_t unit = CodeUnit(s, slash + 2);
    if (unit < 0) return slash;
    i = slash + 6;
    std::uint32_t code_point = static_cast<std::uint32_t>(unit);
    if (unit >= 0xD800 && unit < 0xDC00 && i + 1 < s.size() && s[i] == '\\' && s[i + 1] == 'u') {
      const std::int32_t low = CodeUnit(s, i + 2);
      if (low < 0) return i;
      if (low >= 0xDC00 && low < 0xE000) {
        code_point =
            0x10000 + ((code_point - 0xD800) << 10) + (static_cast<std::uint32_t>(low) - 0xDC00);
        i += 6;
      }
    }
    AppendCodePoint(out, code_point);
  }
  return std::string_view::npos;
}

void AppendWithoutBlanks(std::string_view json, std::string& out) {
  std::size_t i = 0;
  while (i < json.size()) {
    const char c = json[i];
    if (c == '"') {
      std::size_t end = i + 1;
      while (json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      out.append(json.substr(i, end + 1 - i));
      i = end + 1;
      continue;
    }
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') out.push_back(c);
    ++i;
  }
}

}  // namespace sluice::validate
