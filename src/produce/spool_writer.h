#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/metrics.h"
#include "produce/delivery.h"
#include "produce/spool_log.h"
#include "produce/spool_metrics.h"

namespace sluice::produce {

// The thread that appends to a SpoolLog. It takes everything that is queued, appends it with few
// writes and one sync, and then completes the records: the more come at once, the cheaper each is.
// After a failure it fails what comes for kRetryEvery, tries the disk, and goes on once that works.
// Put from any thread, Start and Stop from one.
class SpoolWriter {
 public:
  struct Item {
    SpoolRecord record;  // its topic and key are below, its value is the request's
    std::string topic;
    std::string key;  // librdkafka's copy is gone once the report is read
    DeliverySlot* slot = nullptr;
    core::ErrorCode code = core::ErrorCode::kInternal;  // of the failure if it cannot be kept
    std::string message;
  };
  struct Parts {
    SpoolLog& log;
    SpoolMetrics& spool_metrics;
    core::Metrics& metrics;
    std::function<std::string()> open;  // makes the log ready; empty, or why not
    std::function<void()> on_written;   // there is more to replay
  };

  static constexpr std::chrono::milliseconds kRetryEvery{10000};

  SpoolWriter(Parts parts, std::chrono::milliseconds retry_every)
      : parts_(std::move(parts)), retry_every_(retry_every) {}
  ~SpoolWriter();
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;

  // Opens the log here and now, so that a start knows what is in it; a failure is only a problem().
  void Start();

  // Takes the record over: its slot is completed by the thread. False if the disk is known not to
  // work, or after Stop: nothing was touched.
  bool Put(Item&& item);

  // Ends the segment if nothing waits to be written.
  void RequestSeal();

  // Writes what is queued, ends the segment and the thread.
  void Stop();

  // Empty while the disk takes what comes.
  std::string problem() const;

  std::uint64_t queued_bytes() const { return queued_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }
  // Hasty records that were taken over and could not be kept.
  std::uint64_t hasty_failed() const { return hasty_failed_.load(std::memory_order_relaxed); }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  void Run();
  void Commit(std::vector<Item>& items);
  void Fail(std::vector<Item>& items, std::size_t from, const std::string& problem);
  void TryAgain();
  void SetProblem(const std::string& problem);

  const Parts parts_;
  const std::chrono::milliseconds retry_every_;
  std::vector<SpoolRecord> records_;  // of the thread
  bool opened_ = false;               // of the thread
  SteadyTime retry_at_{};             // of the thread

  std::atomic<std::uint64_t> queued_bytes_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> hasty_failed_{0};

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Item> queue_;
  bool seal_ = false;
  bool stopping_ = true;
  std::string problem_ = "not started";
  std::thread thread_;
};

}  // namespace sluice::produce
