#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/config.h"
#include "core/metrics.h"
#include "produce/fallback_switch.h"

namespace sluice::produce {

// Looks at the first cluster about once a second, on a thread of its own, and says where new
// records go. Start and Stop from one thread, the others from any.
class FallbackWatch {
 public:
  // What the first cluster looks like; blocks for at most `longest`. On the thread of the watch.
  using LookFunction = std::function<FallbackSwitch::Sign(std::chrono::milliseconds longest)>;

  FallbackWatch(const core::KafkaFallbackOptions& options, LookFunction look,
                core::Metrics& metrics);
  ~FallbackWatch();
  FallbackWatch(const FallbackWatch&) = delete;
  FallbackWatch& operator=(const FallbackWatch&) = delete;

  void Start();

  // The target stays as it is from now on. Stop also waits for a look that is under way.
  void BeginStop();
  void Stop();

  KafkaTarget target() const { return target_.load(std::memory_order_relaxed); }

  // Empty while records go to the first cluster; else since when they do not, and when they will.
  std::string Detour() const;

 private:
  void Run();
  void Turn(KafkaTarget target);

  const core::KafkaFallbackOptions options_;
  const LookFunction look_;
  prometheus::Gauge& on_first_;
  prometheus::Gauge& on_fallback_;
  prometheus::Counter& to_first_;
  prometheus::Counter& to_fallback_;

  std::atomic<KafkaTarget> target_{KafkaTarget::kFirst};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string since_;  // the last turn, a time of day for a person
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::produce
