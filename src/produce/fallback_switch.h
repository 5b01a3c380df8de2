#pragma once

#include <chrono>
#include <cstdint>

#include "produce/kafka_conf.h"

namespace sluice::produce {

// Decides to which of two clusters new records go, from what is seen of the first: away from it
// once it was out of reach for `after` without a break, back once it was well for `back_after`
// without a break. One thread.
//
//              bad for `after`
//     first ──────────────────► fallback
//           ◄──────────────────
//             well for `back_after`
class FallbackSwitch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Sign : std::uint8_t { kWell, kOutOfReach };

  struct Options {
    std::chrono::milliseconds after{};
    std::chrono::milliseconds back_after{};
  };

  // No more than this counts for one sign, however long the one before is ago: a process that was
  // stopped for an hour knows nothing of that hour.
  static constexpr std::chrono::seconds kLongestStep{5};

  FallbackSwitch(const Options& options, Time now) : options_(options), seen_at_(now) {}

  // What the first cluster looks like now. True if the target is another one from here on.
  bool Observe(Sign sign, Time now);

  KafkaTarget target() const { return target_; }

 private:
  const Options options_;
  KafkaTarget target_ = KafkaTarget::kFirst;
  Time seen_at_;
  Time::duration contrary_{0};  // for so long has every sign spoken for the other one
};

}  // namespace sluice::produce
