#pragma once

#include <atomic>
#include <chrono>

namespace sluice::core {

// When a loop was last seen at work: it beats each time that it comes round. Any thread.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;

  void Beat(Clock::time_point now = Clock::now()) {
    last_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  Clock::time_point last() const {
    return Clock::time_point(Clock::duration(last_.load(std::memory_order_relaxed)));
  }

 private:
  std::atomic<Clock::rep> last_{Clock::now().time_since_epoch().count()};
};

}  // namespace sluice::core
