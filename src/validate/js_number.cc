#include "validate/js_number.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace sluice::validate {

// ECMA-262, Number::toString: the shortest digits that read back as the value, laid out by the
// exponent. to_chars finds the digits; of several shortest ones it takes the closest to the value,
// as JavaScript engines do.
void AppendJsNumber(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (value == 0) {
    out += '0';
    return;
  }
  if (value < 0) {
    out += '-';
    value = -value;
  }
  if (std::isinf(value)) {
    out += "Infinity";
    return;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  const std::string_view scientific(text, static_cast<std::size_t>(end.ptr - text));
  const std::size_t e = scientific.find('e');
  char digits[20];
  int count = 0;
  for (const char c : scientific.substr(0, e)) {
    if (c != '.') digits[count++] = c;
  }
  int exponent = 0;
  const char* exponent_text = scientific.data() + e + 1;
  if (*exponent_text == '+') ++exponent_text;
  std::from_chars(exponent_text, end.ptr, exponent);
  const std::string_view all(digits, static_cast<std::size_t>(count));
  const int point = exponent + 1;  // where the decimal point stands, counted from the first digit

  if (point > 21 || point <= -6) {
    out += all.front();
    if (count > 1) out.append(".").append(all.substr(1));
    out.append("e").append(exponent < 0 ? "-" : "+").append(std::to_string(std::abs(exponent)));
  } else if (point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-point), '0').append(all);
  } else if (point >= count) {
    out.append(all).append(static_cast<std::size_t>(point - count), '0');
  } else {
    const auto whole = static_cast<std::size_t>(point);
    out.append(all.substr(0, whole)).append(".").append(all.substr(whole));
  }
}

}  // namespace sluice::validate
