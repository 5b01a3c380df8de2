#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "produce/producer.h"

namespace sluice::produce {

// The records for one topic of one librdkafka producer, let through in waves: while more than a few
// are on their way, those that come later wait here and follow together once these have their
// reports.
//
// Why: an idempotent librdkafka producer (2.0.2, rd_kafka_toppar_producer_serve) sends nothing more
// to a partition while more than five of its records are in flight. If one that waits is older than
// the linger, its broker thread asks poll(2) again and again without pause until the broker
// answers: most of a core, for every topic that is busy. What is kept here costs nothing, leaves no
// later and goes out in one batch.
//
// Records keep their order. If no report comes for kLongestSilence, or a record has been held for
// kLongestHold, all pass as they would without this until the topic is idle again. Any thread.
class KafkaWaves {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Hands a record to librdkafka; called under the lock, so that order is kept.
  using Send = std::function<rd_kafka_resp_err_t(const Record&, DeliverySlot*)>;

  // A record that was held, and that librdkafka then did not take.
  struct Refused {
    Record record;
    DeliverySlot* slot;
    rd_kafka_resp_err_t error;
  };

  // As many records may be on their way before others wait: librdkafka sends further requests up to
  // this number (RD_KAFKA_IDEMP_MAX_INFLIGHT).
  static constexpr std::uint32_t kFew = 5;
  static constexpr std::chrono::milliseconds kLongestSilence{50};
  // A record's time-out begins when librdkafka has it: this much comes on top, and the 100 ms until
  // a Tick sees it.
  static constexpr std::chrono::milliseconds kLongestHold{300};

  struct Options {
    std::chrono::microseconds linger{0};  // within it others may join the first record of a wave
    std::uint64_t batch_records = 10000;  // of one request to a broker, which is one wave
    std::uint64_t batch_bytes = 1000000;
  };

  // `held` counts the records that wait in all topics of a producer, and outlives this.
  KafkaWaves(const Options& options, std::atomic<std::int64_t>& held, Send send)
      : options_(options), held_count_(held), send_(std::move(send)) {}

  // Sends it, or keeps it for the next wave: then there is no error.
  rd_kafka_resp_err_t Produce(const Record& record, DeliverySlot* slot, Time now);

  // A record is about to go to librdkafka by another way; its report comes here too. Uncount: it
  // was not taken.
  void Count();
  void Uncount();

  // So many reports came. Adds what could not be sent to `refused`.
  void OnReports(std::uint32_t reports, Time now, std::vector<Refused>& refused);

  // Ends a hold that takes too long. At least ten times a second.
  void Tick(Time now, std::vector<Refused>& refused);

  // Sends everything; nothing is held from now on.
  void Open(std::vector<Refused>& refused);

 private:
  enum class Passing : std::uint8_t { kInWaves, kUntilIdle, kForGood };

  struct Held {
    Record record;
    DeliverySlot* slot;
    Time since;
  };

  bool MayJoin(const Record& record, Time now) const;
  void Join(const Record& record);
  void BeginWave(Time now);
  void SendHeld(std::vector<Refused>& refused);

  const Options options_;
  std::atomic<std::int64_t>& held_count_;
  const Send send_;
  std::mutex mutex_;
  Passing passing_ = Passing::kInWaves;
  std::uint32_t on_their_way_ = 0;
  Time joining_until_{};
  Time reported_at_{};
  std::uint64_t wave_records_ = 0;
  std::uint64_t wave_bytes_ = 0;
  std::deque<Held> held_;  // in their order
};

}  // namespace sluice::produce
