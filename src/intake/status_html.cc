#include "intake/status_html.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace sluice::intake {
namespace {

std::string Formatted(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

void AppendHtml(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
}

std::string CountText(double count) {
  std::string digits = Formatted("%.0f", std::max(0.0, count));
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string RateText(double per_second) {
  if (per_second <= 0) return "0";
  if (per_second >= 100) return CountText(per_second);
  if (per_second >= 10) return Formatted("%.1f", per_second);
  if (per_second >= 0.1) return Formatted("%.2f", per_second);
  return per_second < 0.001 ? "< 0.001" : Formatted("%.3f", per_second);
}

std::string BytesText(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"%.0f B", "%.1f kB", "%.1f MB", "%.1f GB",
                                                        "%.1f TB"};
  static constexpr std::array<const char*, 5> kWholeUnits = {"%.0f B", "%.0f kB", "%.0f MB",
                                                             "%.0f GB", "%.0f TB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = bytes >= 100 || bytes == std::floor(bytes);
  return Formatted(whole ? kWholeUnits[unit] : kUnits[unit], bytes);
}

std::string MillisecondsText(double ms) {
  if (ms >= 1000) return Formatted("%.1f s", ms / 1000);
  if (ms >= 100) return Formatted("%.0f ms", ms);
  return ms >= 10 ? Formatted("%.1f ms", ms) : Formatted("%.2f ms", ms);
}

std::string DurationText(std::chrono::seconds duration) {
  const std::int64_t seconds = duration.count();
  const auto both = [](std::int64_t large, const char* unit, std::int64_t small,
                       const char* small_unit) {
    std::string text = std::to_string(large) + ' ' + unit;
    if (small > 0) text += ' ' + std::to_string(small) + ' ' + small_unit;
    return text;
  };
  if (seconds >= 86400) return both(seconds / 86400, "d", seconds / 3600 % 24, "h");
  if (seconds >= 3600) return both(seconds / 3600, "h", seconds / 60 % 60, "min");
  if (seconds >= 60) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds) + " s";
}

}  // namespace sluice::intake
