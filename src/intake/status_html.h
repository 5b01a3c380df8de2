#pragma once

#include <chrono>
#include <string>
#include <string_view>

// Texts and numbers as the status page shows them.
namespace sluice::intake {

// Appends text so that it is text, in element content and in quoted attributes alike; control
// characters become visible.
void AppendHtml(std::string& out, std::string_view text);

std::string CountText(double count);               // "12,345"
std::string RateText(double per_second);           // "1,234", "12.5", "0.03", "0"
std::string BytesText(double bytes);               // "1.5 MB"
std::string MillisecondsText(double ms);           // "0.42 ms", "1.3 s"
std::string DurationText(std::chrono::seconds d);  // "3 d 4 h", "12 min", "45 s"

}  // namespace sluice::intake
