#include "core/iso_time.h"

#include <cstdio>

namespace sluice::core {
namespace {

void PutDigits(char* at, unsigned value, int digits) {
  for (int i = digits - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// Takes exactly `digits` digits off the front; false if they are not there.
bool TakeDigits(std::string_view& text, int digits, int& value) {
  if (text.size() < static_cast<std::size_t>(digits)) return false;
  value = 0;
  for (int i = 0; i < digits; ++i) {
    const char c = text[i];
    if (c < '0' || c > '9') return false;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Milliseconds of ".123456"; more digits than three are cut off.
int TakeFraction(std::string_view& text) {
  int ms = 0;
  int scale = 100;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    ms += (text.front() - '0') * scale;
    scale /= 10;
    text.remove_prefix(1);
  }
  return ms;
}

std::optional<int> TakeZoneMinutes(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (!TakeDigits(text, 2, hours)) return std::nullopt;
  TakeChar(text, ':');
  if (!text.empty() && !TakeDigits(text, 2, minutes)) return std::nullopt;
  if (!text.empty()) return std::nullopt;
  return sign * (hours * 60 + minutes);
}

}  // namespace

std::string FormatIsoTime(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto ms = floor<milliseconds>(time);
  const auto day = floor<days>(ms);
  const year_month_day date{day};
  const auto rest = static_cast<unsigned>((ms - day).count());
  std::string text = "0000-00-00T00:00:00.000Z";
  PutDigits(text.data(), static_cast<unsigned>(static_cast<int>(date.year())), 4);
  PutDigits(text.data() + 5, static_cast<unsigned>(date.month()), 2);
  PutDigits(text.data() + 8, static_cast<unsigned>(date.day()), 2);
  PutDigits(text.data() + 11, rest / 3600000, 2);
  PutDigits(text.data() + 14, rest / 60000 % 60, 2);
  PutDigits(text.data() + 17, rest / 1000 % 60, 2);
  PutDigits(text.data() + 20, rest % 1000, 3);
  return text;
}

std::optional<std::int64_t> ParseIsoTimeMs(std::string_view text) {
  using namespace std::chrono;
  int y, mo, d, h, mi, s;
  int ms = 0;
  if (!TakeDigits(text, 4, y) || !TakeChar(text, '-') || !TakeDigits(text, 2, mo) ||
      !TakeChar(text, '-') || !TakeDigits(text, 2, d)) {
    return std::nullopt;
  }
  if (!TakeChar(text, 'T') && !TakeChar(text, 't') && !TakeChar(text, ' ')) return std::nullopt;
  if (!TakeDigits(text, 2, h) || !TakeChar(text, ':') || !TakeDigits(text, 2, mi) ||
      !TakeChar(text, ':') || !TakeDigits(text, 2, s)) {
    return std::nullopt;
  }
  if (TakeChar(text, '.')) ms = TakeFraction(text);
  const auto zone = TakeZoneMinutes(text);
  const year_month_day date{year{y}, month{static_cast<unsigned>(mo)},
                            day{static_cast<unsigned>(d)}};
  if (!zone || !date.ok() || h > 24 || mi > 59 || s > 60) return std::nullopt;
  const auto at = sys_days{date} + hours{h} + minutes{mi - *zone} + seconds{s} + milliseconds{ms};
  return duration_cast<milliseconds>(at.time_since_epoch()).count();
}

}  // namespace sluice::core
