#pragma once

#include <chrono>

namespace sluice::core {

// Where the wall-clock time of events comes from; tests hand in one that stands still. Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::system_clock::time_point Now() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::chrono::system_clock::time_point Now() const override {
    return std::chrono::system_clock::now();
  }
};

}  // namespace sluice::core
