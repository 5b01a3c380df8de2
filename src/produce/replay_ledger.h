#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "produce/delivery.h"

namespace sluice::produce {

// Remembers the records that were produced more than once, until they are done: how often, and
// since when. They are few, and while there are none, asking costs one atomic load. Any thread.
class ReplayLedger {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr int kMaxReplays = 5;

  // A record may be produced again until `window` after its first time.
  explicit ReplayLedger(std::chrono::milliseconds window) : window_(window) {}

  // True if the record may be produced once more, which is then counted. `first` is when it was
  // produced last; kept from the first call for the slot.
  bool Admit(const DeliverySlot* slot, Time first, Time now) {
    return Admit(slot, first, now, window_);
  }
  // With a window of its own for this time.
  bool Admit(const DeliverySlot* slot, Time first, Time now, std::chrono::milliseconds window);

  // True for the first call for an admitted slot: its timestamp may be replaced once.
  bool AdmitRestamp(const DeliverySlot* slot);

  void Forget(const DeliverySlot* slot);

  std::size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  struct Entry {
    Time first;
    int replays = 0;
    bool restamped = false;
  };

  const std::chrono::milliseconds window_;
  std::mutex mutex_;
  std::unordered_map<const DeliverySlot*, Entry> entries_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace sluice::produce
