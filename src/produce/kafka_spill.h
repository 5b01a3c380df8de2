#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "produce/kafka_errors.h"
#include "produce/spool.h"

namespace sluice::produce {

// What one of the Kafka producers does with records that Kafka does not take: decides which of them
// belong into the spool, and when new ones should not even wait for Kafka. Any thread.
class KafkaSpill {
 public:
  // `after`: so long may nothing be delivered while records wait. `spool` outlives this.
  KafkaSpill(Spool& spool, DeliveryMode mode, std::chrono::milliseconds after)
      : spool_(spool), mode_(mode), after_(after) {}

  // A delivery report was good.
  void Delivered() { progress_.store(Now(), std::memory_order_relaxed); }

  // A record is about to be queued behind `queued_bytes` that wait. True if Kafka takes nothing:
  // it is known to be out of reach, or nothing was delivered for too long.
  enum class Reach : std::uint8_t { kUnknown, kOutOfReach };
  bool Stalled(std::uint64_t queued_bytes, Reach reach);

  // True if the failure of a record is one that the spool is there for, and it took the record: its
  // slot is then completed by the spool.
  bool Take(std::string_view topic, const Record& record, const Fate& fate,
            std::string_view message, DeliverySlot* slot);

 private:
  static std::int64_t Now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  Spool& spool_;
  const DeliveryMode mode_;
  const std::chrono::nanoseconds after_;
  std::atomic<std::int64_t> progress_{Now()};
};

}  // namespace sluice::produce
