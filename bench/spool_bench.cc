// The disk spool: how fast records are put into it (with and without fsync), how long a start takes
// with all of them waiting, how fast they are replayed into a target that costs nothing, or into
// Kafka, and how much memory that takes.
//
//   spool_bench FOLDER [RECORDS] [BYTES] [BOOTSTRAP]
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "produce/kafka_replay.h"
#include "produce/spool.h"

namespace {

using sluice::produce::Delivery;
using sluice::produce::DeliverySlot;
using sluice::produce::Spool;
using std::chrono::steady_clock;

constexpr std::uint32_t kBatch = 50;  // records of one request
constexpr std::size_t kRequestsAtOnce = 64;

// Never delivers, or at once.
class NullTarget final : public sluice::produce::ReplayTarget {
 public:
  std::atomic<bool> open{false};
  sluice::produce::Topic* OpenTopic(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    auto& topic = topics_[std::string(name)];
    if (topic == nullptr) topic = std::make_unique<Named>(name);
    return topic.get();
  }
  void Replay(sluice::produce::Topic&, const sluice::produce::Record&,
              DeliverySlot* slot) override {
    if (open) return Delivery::CompleteDelivered(slot, sluice::produce::Durability::kKafka);
    Delivery::CompleteFailed(slot, sluice::core::ErrorCode::kDeliveryTimeout, "closed");
  }

 private:
  struct Named final : sluice::produce::Topic {
    explicit Named(std::string_view name) : Topic(name) {}
  };
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Named>> topics_;
};

class Gate {
 public:
  void Enter() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return used_ < kRequestsAtOnce; });
    ++used_;
  }
  void Leave() {
    const std::lock_guard lock(mutex_);
    --used_;
    room_.notify_all();
  }
  void AwaitEmpty() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return used_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_;
  std::size_t used_ = 0;
};

class Request final : public Delivery {
 public:
  explicit Request(Gate& gate) : gate_(gate) { Reserve(kBatch); }

 private:
  void OnAllDone() override {
    Gate& gate = gate_;
    delete this;
    gate.Leave();
  }
  Gate& gate_;
};

double Seconds(steady_clock::time_point since) {
  return std::chrono::duration<double>(steady_clock::now() - since).count();
}

double ResidentMb() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return static_cast<double>(pages) * 4096 / 1e6;
}

struct Bench {
  std::string folder;
  std::size_t records = 2'000'000;
  std::string value;
  sluice::core::Metrics metrics{{}, "bench"};
  std::unique_ptr<sluice::produce::FileOps> ops;
  NullTarget target;

  sluice::core::SpoolOptions Options(sluice::core::FsyncPolicy fsync) const {
    sluice::core::SpoolOptions options;
    options.mode = sluice::core::SpoolMode::kAll;
    options.max_bytes = std::uint64_t{1} << 40;
    options.fsync = fsync;
    return options;
  }

  std::unique_ptr<Spool> Open(sluice::core::FsyncPolicy fsync,
                              sluice::produce::ReplayTarget& into) {
    ops = sluice::produce::MakePosixFileOps();
    auto spool = std::make_unique<Spool>(Options(fsync), folder, *ops, metrics);
    spool->Start(into);
    return spool;
  }

  void Close(std::unique_ptr<Spool> spool) {
    spool->StopReplay();
    spool->Finish(steady_clock::now() + std::chrono::seconds(60));
  }

  void Write(sluice::core::FsyncPolicy fsync, std::size_t count, const char* name) {
    std::filesystem::remove_all(folder);
    target.open = false;
    auto spool = Open(fsync, target);
    Gate gate;
    const auto start = steady_clock::now();
    for (std::size_t done = 0; done < count; done += kBatch) {
      gate.Enter();
      auto* request = new Request(gate);
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        DeliverySlot* slot = request->Add();
        if (!spool->Take({.mode = sluice::produce::DeliveryMode::kHasty,
                          .topic = "bench.spool",
                          .record = {.value = value, .key = {}},
                          .code = sluice::core::ErrorCode::kQueueFull,
                          .message = ""},
                         slot))
          Delivery::CompleteFailed(slot, sluice::core::ErrorCode::kQueueFull, "refused");
      }
      request->Seal();
    }
    gate.AwaitEmpty();
    const double time = Seconds(start);
    std::printf("write, fsync %-5s  %8.0f records/s  %6.1f MB/s  (%zu records, %.2f s)\n", name,
                static_cast<double>(count) / time,
                static_cast<double>(count * value.size()) / 1e6 / time, count, time);
    Close(std::move(spool));
  }

  void Replay(sluice::produce::ReplayTarget& into, const char* name) {
    const double before_mb = ResidentMb();
    const auto start = steady_clock::now();
    auto spool = Open(sluice::core::FsyncPolicy::kBatch, into);
    const double open_s = Seconds(start);
    const std::uint64_t waiting = spool->waiting();
    double most_mb = ResidentMb();
    while (spool->waiting() > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      most_mb = std::max(most_mb, ResidentMb());
    }
    const double time = Seconds(start) - open_s;
    std::printf("start with %zu waiting  %.3f s\n", static_cast<std::size_t>(waiting), open_s);
    std::printf("replay into %-7s %8.0f records/s  (%.2f s, memory %.0f MB before, %.0f MB most)\n",
                name, static_cast<double>(waiting) / time, time, before_mb, most_mb);
    Close(std::move(spool));
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "spool_bench FOLDER [RECORDS] [BYTES] [BOOTSTRAP]\n");
    return 2;
  }
  Bench bench;
  bench.folder = std::string(argv[1]) + "/spool-bench";
  if (argc > 2) bench.records = std::strtoull(argv[2], nullptr, 10);
  bench.value = std::string(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1000, 'x');
  bench.Write(sluice::core::FsyncPolicy::kNever, bench.records, "never");
  bench.Write(sluice::core::FsyncPolicy::kBatch, bench.records, "batch");
  malloc_trim(0);
  if (argc > 4) {
    sluice::core::KafkaOptions options;
    options.conf = {{"bootstrap.servers", argv[4]}, {"compression.codec", "snappy"}};
    sluice::produce::KafkaReplay kafka(options, "spool-bench");
    if (!kafka.Start()) return 1;
    bench.Replay(kafka, "Kafka");
    kafka.Stop(steady_clock::now() + std::chrono::seconds(5));
  } else {
    bench.target.open = true;
    bench.Replay(bench.target, "nothing");
  }
  std::filesystem::remove_all(bench.folder);
  return 0;
}
