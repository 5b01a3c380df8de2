#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/config.h"
#include "produce/spool_aside.h"
#include "produce/spool_checkpoint.h"
#include "produce/spool_log.h"
#include "produce/spool_metrics.h"
#include "produce/spool_replayer.h"
#include "produce/spool_writer.h"

namespace sluice::produce {

// Keeps on disk what Kafka does not take, and sends it there afterwards: docs/spool-format.md. A
// disk that is full or fails turns it off, with an alarm, until it works again; nobody waits for
// that. Take and the getters may be called from any thread, the others from one.
class Spool {
 public:
  // `folder` is of this process alone. `ops` outlives the spool.
  // `retry_every`: how often a disk that failed is tried.
  Spool(const core::SpoolOptions& options, const std::string& folder, FileOps& ops,
        core::Metrics& metrics, std::chrono::milliseconds retry_every = SpoolWriter::kRetryEvery);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // Reads what is there (not the records themselves), and begins to send it to `target`, which
  // outlives the spool or its Finish. Where the folder cannot be used now, that is tried again.
  void Start(ReplayTarget& target);

  // True if records of this mode may be put here at all.
  bool Covers(DeliveryMode mode) const {
    return options_.mode == core::SpoolMode::kAll ||
           (options_.mode == core::SpoolMode::kHasty && mode == DeliveryMode::kHasty);
  }

  // A record that Kafka did not take, and the failure that its requester would get.
  struct Spilled {
    DeliveryMode mode;
    Written written = Written::kNo;
    std::string_view topic;
    Record record;
    core::ErrorCode code;
    std::string_view message;
  };

  // True: the slot is completed here, as delivered once the record is on disk, else as failed.
  // False: nothing was touched, the mode is not covered or state() is not kOn.
  bool Take(const Spilled& spilled, DeliverySlot* slot);

  SpoolState state() const;

  // Empty if it takes events, else why not; for /readyz.
  std::string trouble() const;

  // The end begins: nothing is sent to the target from now on. What it has may then be given back.
  void StopReplay();

  struct Report {
    std::uint64_t written = 0;   // since the start
    std::uint64_t replayed = 0;  // since the start
    std::uint64_t waiting = 0;   // now
    std::uint64_t lost = 0;      // hasty records that could not be kept, since StopReplay
  };

  // Writes what was taken, and the checkpoint; waits for the target's reports until `deadline`.
  // After StopReplay, when nothing calls Take any more.
  Report Finish(std::chrono::steady_clock::time_point deadline);

  // Records that wait to be replayed.
  std::uint64_t waiting() const;

 private:
  std::string Open();
  bool IsFull() const;

  const core::SpoolOptions options_;
  const std::string folder_;
  FileOps& ops_;
  SpoolMetrics metrics_;
  SpoolLog log_;
  SpoolCheckpoint checkpoint_;
  SpoolAside aside_;
  SpoolWriter writer_;
  ReplayTarget* target_ = nullptr;
  std::unique_ptr<SpoolReplayer> replayer_;  // once the folder is open
  std::atomic<bool> replaying_{false};       // replayer_ is there
  bool locked_ = false;
  std::optional<std::uint64_t> lost_before_;  // when the end began
};

}  // namespace sluice::produce
