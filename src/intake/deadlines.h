#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "core/config.h"

namespace sluice::intake {

// What a connection is waiting for.
enum class Wait : std::uint8_t { kNone, kHeader, kBody, kIdle, kWrite, kDelivery, kLinger };
inline constexpr int kWaitCount = 7;

class Deadlines;

// Something that can come too late. Belongs to at most one Deadlines, of the same thread.
class DeadlineEntry {
 public:
  virtual ~DeadlineEntry() = default;
  virtual void OnDeadline(Wait what) = 0;

 private:
  friend class Deadlines;
  DeadlineEntry* previous_ = nullptr;
  DeadlineEntry* next_ = nullptr;
  std::chrono::steady_clock::time_point due_{};
  Wait wait_ = Wait::kNone;
};

// The deadlines of all connections of one I/O thread, without a timer each: since every kind has
// one duration, each kind is a list in order of expiry, and setting a deadline is moving an entry
// to the end of a list. Sweep is called by a coarse tick, so a deadline is met up to one tick late.
// Not thread-safe.
class Deadlines {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadlines(const core::LimitOptions& limits);

  // Other durations from now on; what is running moves by the difference.
  void Use(const core::LimitOptions& limits);

  // Sets, replaces or (kNone) removes the one deadline of `entry`, counted from the last tick.
  void Set(DeadlineEntry& entry, Wait what);
  // Calls OnDeadline of all that are due; it may call Set and destroy its own entry.
  void Sweep(Clock::time_point now);

 private:
  struct List {
    DeadlineEntry* first = nullptr;
    DeadlineEntry* last = nullptr;
  };
  void Unlink(DeadlineEntry& entry);

  std::array<Clock::duration, kWaitCount> durations_{};
  std::array<List, kWaitCount> lists_{};
  Clock::time_point now_ = Clock::now();
};

}  // namespace sluice::intake
