#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "produce/delivery.h"
#include "produce/producer.h"
#include "produce/spool_aside.h"
#include "produce/spool_checkpoint.h"
#include "produce/spool_log.h"
#include "produce/spool_metrics.h"
#include "produce/spool_reader.h"

namespace sluice::produce {

// Where spooled records go. Like Producer, but what it cannot deliver it keeps: a record fails only
// if it is refused or at a stop.
class ReplayTarget {
 public:
  virtual Topic* OpenTopic(std::string_view name) = 0;
  virtual void Replay(Topic& topic, const Record& record, DeliverySlot* slot) = 0;

 protected:
  ~ReplayTarget() = default;
};

// Sends what is in a SpoolLog to Kafka, from the checkpoint on, in the order of the log:
//
//  - Records go in chunks; at most `window` records are on their way. A chunk that is delivered
//    moves the place from which a restart would begin, but only behind chunks before it.
//  - Before records are sent that a start would not expect, the checkpoint says so (its ceiling).
//    So a crash sends at most two windows a second time, and the next start knows which.
//  - A segment is removed after a checkpoint behind it is on disk.
//  - What fails for the time being stops the window: it drains, then what failed goes first, so
//    that no record of a topic overtakes another by a failure.
//  - A topic that refuses records for kPatience without taking one has them set aside.
//
// Start, Stop and Finish from one thread, the others from any.
class SpoolReplayer {
 public:
  struct Options {
    int rate = 0;
    int window = 4096;
    std::function<std::int64_t()> now_ms;
  };

  static constexpr std::chrono::seconds kPatience{60};

  // All outlive the replayer. `request_seal` asks that the segment being written ends, so that an
  // empty spool has no files.
  SpoolReplayer(Options options, SpoolLog& log, SpoolCheckpoint& checkpoint, SpoolAside& aside,
                SpoolMetrics& metrics, ReplayTarget& target, std::function<void()> request_seal);
  ~SpoolReplayer();
  SpoolReplayer(const SpoolReplayer&) = delete;
  SpoolReplayer& operator=(const SpoolReplayer&) = delete;

  // `done` is where to begin, `ceiling` the first record that was never sent.
  void Start(const SpoolPosition& done, std::uint64_t ceiling);

  // There is more to read.
  void Notify();

  // No record is sent from now on; the target may then give back what is on its way.
  void Stop();

  // Waits until everything on its way is done, but not beyond `deadline`, writes the checkpoint,
  // ends the thread. After Stop.
  void Finish(std::chrono::steady_clock::time_point deadline);

  // Records that wait or are on their way.
  std::uint64_t waiting() const;
  std::int64_t oldest_ms() const { return oldest_ms_.load(std::memory_order_relaxed); }  // 0: none
  std::uint64_t replayed() const { return replayed_.load(std::memory_order_relaxed); }
  std::string problem() const;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct Chunk;
  class Attempt;

  void Run();
  bool Settle(Chunk& chunk, SteadyTime now);
  bool SetAside(const Chunk& chunk, std::size_t item, SteadyTime now);
  void Reap(SteadyTime now);
  void SendAgain();
  void Feed(SteadyTime now);
  bool ReadChunk(Chunk& chunk, std::size_t most);
  bool OpenReader();
  void OnDamage();
  void OnUnreadable();
  bool Admit(const Chunk& chunk);
  void Send(Chunk& chunk);
  void PassSegments();
  bool StoreCheckpoint(std::uint64_t ceiling);
  void Tidy(SteadyTime now);
  void SetProblem(std::string text);
  std::size_t Allowance(SteadyTime now);
  void FinishChunks();

  const Options options_;
  SpoolLog& log_;
  SpoolCheckpoint& checkpoint_;
  SpoolAside& aside_;
  SpoolMetrics& metrics_;
  ReplayTarget& target_;
  const std::function<void()> request_seal_;

  // Of the thread.
  std::deque<std::unique_ptr<Chunk>> window_;
  std::unique_ptr<Chunk> held_;  // read, and not sent since the checkpoint could not be written
  std::unique_ptr<SpoolReader> reader_;
  SpoolPosition next_;  // of the reader
  SpoolPosition done_;
  std::uint64_t ceiling_ = 1;
  std::uint64_t known_ceiling_ = 1;  // of the start: records below may have been sent before
  std::uint64_t sent_end_ = 1;       // behind the last record that was sent
  std::size_t in_flight_ = 0;        // records of the window
  std::uint64_t in_flight_bytes_ = 0;
  bool again_ = false;  // something failed for the time being
  int read_failures_ = 0;
  double tokens_ = 0;
  SteadyTime tokens_at_{};
  SteadyTime resume_at_{};  // nothing is sent before
  SteadyTime checkpoint_at_{};
  SteadyTime drained_at_{};
  std::map<std::string, SteadyTime, std::less<>> refusing_;  // topics, since when

  std::atomic<std::uint64_t> done_sequence_{1};
  std::atomic<std::int64_t> oldest_ms_{0};
  std::atomic<std::uint64_t> replayed_{0};

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool notified_ = false;
  bool stopping_ = false;
  SteadyTime finish_by_ = SteadyTime::max();
  std::size_t attempts_ = 0;  // chunks whose reports are still to come
  std::string problem_;
  std::thread thread_;
};

}  // namespace sluice::produce
