#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice::produce {

// Whether the brokers can be reached, as far as is known, for /readyz. Any thread, except AskAgain.
class KafkaTrouble {
 public:
  explicit KafkaTrouble(std::string_view producer_type) : producer_type_(producer_type) {}

  // Logs the change between good and bad, once each.
  void Set(std::string text);
  void Clear();

  bool bad() const { return bad_.load(std::memory_order_relaxed); }

  // Empty while all is well.
  std::string text() const;

  // True once a second while in trouble: nothing that flows would tell that a broker is back, and
  // while not ready nothing flows. For one thread at a time.
  bool AskAgain(std::chrono::steady_clock::time_point now);

 private:
  const std::string producer_type_;
  mutable std::mutex mutex_;
  std::string text_;
  std::atomic<bool> bad_{false};
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace sluice::produce
