#include "core/yaml_scalar.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace sluice::core {
namespace {

constexpr double kMaxExact = 9007199254740992.0;  // 2^53

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

boost::json::value FromDouble(double number) {
  if (std::abs(number) <= kMaxExact && number == std::trunc(number) &&
      !(number == 0 && std::signbit(number))) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

// Digits of `base` from `text`, underscores left out; empty if there is anything else, or no digit,
// or an underscore at either end.
std::string DigitsOf(std::string_view text, int base) {
  std::string digits;
  if (text.empty() || text.front() == '_' || text.back() == '_') return digits;
  for (const char c : text) {
    if (c == '_') continue;
    const int value = IsDigit(c)               ? c - '0'
                      : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                      : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                               : 99;
    if (value >= base) return {};
    digits += c;
  }
  return digits;
}

double ValueOfDigits(const std::string& digits, int base) {
  if (base == 10) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() ? value : std::numeric_limits<double>::infinity();
  }
  double value = 0;
  for (const char c : digits) {
    value = value * base + (IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

// [-+]?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)? or \.[0-9_]+([eE][-+]?[0-9]+)?, as js-yaml has
// it.
bool LooksLikeFloat(std::string_view text) {
  std::size_t i = 0;
  const std::size_t n = text.size();
  const auto skip_digits = [&] {
    const std::size_t from = i;
    while (i < n && (IsDigit(text[i]) || text[i] == '_')) ++i;
    return i > from;
  };
  if (text[0] == '.') {
    ++i;
    if (!skip_digits()) return false;
  } else {
    if (text[0] == '-' || text[0] == '+') ++i;
    if (i >= n || !IsDigit(text[i])) return false;
    skip_digits();
    if (i < n && text[i] == '.') {
      ++i;
      skip_digits();
    }
  }
  if (i < n && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < n && (text[i] == '-' || text[i] == '+')) ++i;
    const std::size_t from = i;
    while (i < n && IsDigit(text[i])) ++i;
    if (i == from) return false;
  }
  return i == n && text.back() != '_';
}

}  // namespace

boost::json::value NumberFromText(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // from_chars does not say which way: strtod does.
    value = std::strtod(std::string(text).c_str(), nullptr);
  }
  return FromDouble(value);
}

bool IsYamlNull(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::optional<boost::json::value> YamlBool(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return boost::json::value(true);
  if (text == "false" || text == "False" || text == "FALSE") return boost::json::value(false);
  return std::nullopt;
}

std::optional<boost::json::value> YamlInteger(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && !IsDigit(text[1]) && text[1] != '_') {
    base = text[1] == 'b' ? 2 : text[1] == 'o' ? 8 : text[1] == 'x' ? 16 : 0;
    if (base == 0) return std::nullopt;
    text.remove_prefix(2);
  }
  const std::string digits = DigitsOf(text, base);
  if (digits.empty()) return std::nullopt;
  const double value = ValueOfDigits(digits, base);
  return FromDouble(negative ? -value : value);
}

std::optional<boost::json::value> YamlFloat(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    return boost::json::value(std::numeric_limits<double>::quiet_NaN());
  }
  std::string_view unsigned_text = text;
  if (text[0] == '-' || text[0] == '+') unsigned_text.remove_prefix(1);
  if (unsigned_text == ".inf" || unsigned_text == ".Inf" || unsigned_text == ".INF") {
    const double infinity = std::numeric_limits<double>::infinity();
    return boost::json::value(text[0] == '-' ? -infinity : infinity);
  }
  if (!LooksLikeFloat(text)) return std::nullopt;
  std::string digits;
  for (const char c : text) {
    if (c != '_' && c != '+') digits += c;  // "1e+5": from_chars takes 1e5 as well
  }
  return NumberFromText(digits);
}

boost::json::value PlainScalar(std::string_view text) {
  if (IsYamlNull(text)) return nullptr;
  if (auto value = YamlBool(text)) return *std::move(value);
  if (auto value = YamlInteger(text)) return *std::move(value);
  if (auto value = YamlFloat(text)) return *std::move(value);
  return boost::json::value(boost::json::string(text));
}

}  // namespace sluice::core
