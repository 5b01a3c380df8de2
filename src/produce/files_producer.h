#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "produce/file_ops.h"
#include "produce/producer.h"
#include "produce/topic_file.h"

namespace sluice::produce {

// The embedded default: each topic is one append-only file `<data_dir>/topics/<topic>.ndjson` (the
// name as in TopicFileName), one record's value a line. Key and timestamp are not written: a line
// is the event and nothing else.
//
// One thread writes. It takes everything that is queued, appends it file by file with few writes,
// syncs each file once (FsyncPolicy::kBatch) and then completes the records: the more come at once,
// the cheaper each one is. With kBatch a delivered record survives a loss of power, with kNever the
// end of this process.
//
// A record whose write fails is completed with kDeliveryFailed and the file's and the system's
// words; those before it in the group stand. A topic that cannot be a file name gets
// kStreamNotConfigured.
//
// Produce, EndOfBatch and OpenTopic may be called from any thread, Start and Stop from one.
class FilesProducer final : public Producer {
 public:
  struct Options {
    std::string data_dir;
    core::FsyncPolicy fsync = core::FsyncPolicy::kBatch;
    std::uint64_t max_queued_bytes = 64u << 20;  // values that wait; above: kQueueFull
    std::size_t max_open_files = 256;            // the file used longest ago is closed above this
  };

  FilesProducer(Options options, core::Metrics& metrics, std::unique_ptr<FileOps> ops);
  ~FilesProducer() override;

  // Creates the folder, and repairs the files in it that end in the middle of a line.
  core::Result<void> Start() override;
  Topic* OpenTopic(std::string_view name) override;
  void Produce(Topic& topic, DeliveryMode mode, const Record& record, DeliverySlot* slot) override;
  void EndOfBatch() override;
  std::uint64_t queued_bytes() const override {
    return queued_bytes_.load(std::memory_order_relaxed);
  }
  std::uint64_t max_queued_bytes() const override { return options_.max_queued_bytes; }
  std::string trouble() const override;

  // `lost` counts the hasty records that could not be written: a guaranteed one was refused to its
  // requester.
  StopReport Stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  struct Queued {
    DeliverySlot* slot;
    std::string_view value;
    DeliveryMode mode;
  };
  struct FileTopic;
  struct Arrival {
    FileTopic* topic;
    Queued record;
  };

  void Run();
  void WriteGroup(std::vector<Arrival>& group);
  void WriteTopic(FileTopic& topic);
  void FailTopic(FileTopic& topic, std::size_t from, core::ErrorCode code,
                 std::string_view message);
  void LimitOpenFiles(FileTopic& used);
  void SetTrouble(const FileTopic& topic, const std::string& problem);
  bool PastDeadline();

  const Options options_;
  const std::string folder_;
  core::Metrics& metrics_;
  const std::unique_ptr<FileOps> ops_;

  std::mutex topics_mutex_;
  std::map<std::string, std::unique_ptr<FileTopic>, std::less<>> topics_;

  std::atomic<std::uint64_t> queued_bytes_{0};
  std::mutex queue_mutex_;  // guards the members up to the blank line
  std::condition_variable wake_;
  std::vector<Arrival> queue_;
  bool writer_idle_ = false;
  bool stopping_ = false;
  std::chrono::steady_clock::time_point stop_deadline_{};

  mutable std::mutex trouble_mutex_;
  std::string trouble_;
  const FileTopic* troubled_ = nullptr;

  // Of the writer thread only.
  std::vector<FileTopic*> touched_;
  std::vector<std::string_view> values_;
  std::list<FileTopic*> open_;  // most recently used first
  std::uint64_t lost_ = 0;
  std::thread writer_;
};

}  // namespace sluice::produce
