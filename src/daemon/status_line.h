#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/metrics.h"

namespace sluice::daemon {

// What the process is doing, in one line with rates since the line before: "312 events/s, 3
// refused/s, 0 failed/s". One thread.
class StatusLine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  StatusLine(const core::Metrics& metrics, Time now) : metrics_(metrics), before_(Now(now)) {}

  std::string Next(Time now);

 private:
  struct Sample {
    Time at;
    std::uint64_t received;
    std::uint64_t refused;
    std::uint64_t failed;
  };
  Sample Now(Time now) const;

  const core::Metrics& metrics_;
  Sample before_;
};

}  // namespace sluice::daemon
