#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sluice::produce {

// The room in the queue of one producer, in bytes of values and keys. Records are let in up to a
// mark below the queue's bound, and those of one topic only up to a share of the room that is still
// free: one topic that does not drain, or is hot, takes half of the room at the usual share of 100
// %, n of them n parts of n + 1, and what is left is for the others. Any thread, except Measure.
class KafkaRoom {
 public:
  using Bytes = std::atomic<std::uint64_t>;
  using Time = std::chrono::steady_clock::time_point;
  enum class Answer : std::uint8_t { kTaken, kFull, kShareUsed };

  struct Options {
    std::uint64_t bound = 0;  // queue.buffering.max.kbytes
    int admit_percent = 80;
    int topic_share_percent = 100;
  };
  explicit KafkaRoom(const Options& options);

  // On kTaken the bytes are counted here and for the topic, until GiveBack.
  Answer Take(Bytes& of_topic, std::uint64_t bytes);
  void GiveBack(Bytes& of_topic, std::uint64_t bytes);

  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::uint64_t admitted_bytes() const { return admitted_; }  // the mark
  std::uint64_t bound() const { return options_.bound; }

  // Pairs with the release in Take: what the producing threads wrote before it is seen from here
  // on.
  void AcquireRecords() const { static_cast<void>(bytes_.load(std::memory_order_acquire)); }

  bool IsFull() const { return bytes() >= admitted_ / 10 * 9; }

  // Filled to that percentage of the bound.
  bool IsFilledTo(int percent) const;

  // Of the queue's bytes that is delivered: the rate of the last seconds decides how long a queue
  // as full as now takes to drain. 1 to 60 s; 60 while nothing is delivered. Measure is called
  // about once a second, or more often, by one thread.
  void Delivered(std::uint64_t bytes) { delivered_.fetch_add(bytes, std::memory_order_relaxed); }
  void Measure(Time now);
  std::chrono::seconds DrainTime() const;

 private:
  const Options options_;
  const std::uint64_t admitted_;
  Bytes bytes_{0};
  Bytes delivered_{0};
  std::atomic<double> bytes_per_second_{0};
  std::uint64_t measured_ = 0;
  Time measured_at_{};
};

}  // namespace sluice::produce
