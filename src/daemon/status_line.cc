#include "daemon/status_line.h"

#include <cmath>

namespace sluice::daemon {

StatusLine::Sample StatusLine::Now(Time now) const {
  return {now, metrics_.events_received(), metrics_.events_ended(core::Disposition::kRefused),
          metrics_.events_ended(core::Disposition::kFailed)};
}

std::string StatusLine::Next(Time now) {
  const Sample sample = Now(now);
  const double seconds = std::chrono::duration<double>(sample.at - before_.at).count();
  const auto rate = [&](std::uint64_t Sample::*count) {
    const auto grown = static_cast<double>(sample.*count - before_.*count);
    return std::to_string(std::llround(seconds > 0 ? grown / seconds : 0)) + ' ';
  };
  const std::string line = rate(&Sample::received) + "events/s, " + rate(&Sample::refused) +
                           "refused/s, " + rate(&Sample::failed) + "failed/s";
  before_ = sample;
  return line;
}

}  // namespace sluice::daemon
