#include "produce/files_producer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <thread>

#include "unit/produce/fake_file_ops.h"
#include "unit/produce/waiting_delivery.h"

namespace sluice::produce {
namespace {

using std::chrono::steady_clock;

struct Fixture {
  core::Metrics metrics{{}, "test"};
  std::shared_ptr<FakeFileOps::Disk> disk = std::make_shared<FakeFileOps::Disk>();
  FilesProducer producer;

  explicit Fixture(std::uint64_t max_queued_bytes = 1000, std::size_t max_open_files = 2)
      : producer({.data_dir = "d",
                  .fsync = core::FsyncPolicy::kBatch,
                  .max_queued_bytes = max_queued_bytes,
                  .max_open_files = max_open_files},
                 metrics, std::make_unique<FakeFileOps>(disk)) {}

  static steady_clock::time_point InTime() { return steady_clock::now() + std::chrono::minutes(1); }
};

// Holds the writer inside of a call until it is let go.
class Gate {
 public:
  explicit Gate(std::string call) : call_(std::move(call)) {}
  int Pass(const std::string& call) {
    if (call == call_ && !used_.exchange(true)) {
      reached_.set_value();
      open_.get_future().wait();
    }
    return 0;
  }
  void AwaitReached() { reached_.get_future().wait(); }
  void Open() { open_.set_value(); }

 private:
  std::string call_;
  std::atomic<bool> used_{false};
  std::promise<void> reached_;
  std::promise<void> open_;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "FilesProducer: records are appended to the file of their topic") {
  REQUIRE(producer.Start().has_value());
  Topic* a = producer.OpenTopic("a");
  Topic* b = producer.OpenTopic("b/c");
  CHECK(a == producer.OpenTopic("a"));
  WaitingDelivery delivery(3);
  delivery.Send(producer, *a, "1");
  delivery.Send(producer, *b, "2");
  delivery.Send(producer, *a, "3");
  producer.EndOfBatch();
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0) == "delivered");
  CHECK(delivery.Fate(1) == "delivered");
  CHECK(disk->Text("d/topics/a.ndjson") == "1\n3\n");
  CHECK(disk->Text("d/topics/b%2Fc.ndjson") == "2\n");
  CHECK(producer.Stop(InTime()).lost == 0);
  CHECK(producer.queued_bytes() == 0);
  CHECK(metrics.records_in_flight() == 0);
}

TEST_CASE_FIXTURE(Fixture, "FilesProducer: a batch that is never ended is written all the same") {
  REQUIRE(producer.Start().has_value());
  WaitingDelivery delivery(1);
  delivery.Send(producer, *producer.OpenTopic("a"), "1");
  CHECK(delivery.Wait());
}

TEST_CASE_FIXTURE(Fixture, "FilesProducer: what queues during a write is one group") {
  Gate gate("sync");
  disk->fail = [&](const std::string& call, const std::string&) { return gate.Pass(call); };
  REQUIRE(producer.Start().has_value());
  Topic* a = producer.OpenTopic("a");
  WaitingDelivery first(1);
  first.Send(producer, *a, "0");
  producer.EndOfBatch();
  gate.AwaitReached();
  WaitingDelivery rest(50);
  for (int i = 0; i < 50; ++i) rest.Send(producer, *a, "x");
  producer.EndOfBatch();
  gate.Open();
  REQUIRE(first.Wait());
  REQUIRE(rest.Wait());
  CHECK(disk->Count("write") == 2);
  CHECK(disk->Count("sync") == 2);
}

TEST_CASE("FilesProducer: the queue is bounded by bytes") {
  Fixture f(10);
  Gate gate("sync");
  f.disk->fail = [&](const std::string& call, const std::string&) { return gate.Pass(call); };
  REQUIRE(f.producer.Start().has_value());
  Topic* a = f.producer.OpenTopic("a");
  WaitingDelivery delivery(4);
  delivery.Send(f.producer, *a, "12345");
  f.producer.EndOfBatch();
  gate.AwaitReached();
  delivery.Send(f.producer, *a, "12345");
  delivery.Send(f.producer, *a, "6");
  CHECK(delivery.Fate(2) == "queue_full: the queue to the files is full");
  CHECK(f.producer.queued_bytes() == 10);
  gate.Open();
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0) == "delivered");
  CHECK(delivery.Fate(1) == "delivered");
  CHECK(f.producer.queued_bytes() == 0);
  CHECK(f.metrics.records_in_flight() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "FilesProducer: a failed write is told to each record it hits, and passes") {
  disk->room_bytes = 5;
  REQUIRE(producer.Start().has_value());
  Topic* a = producer.OpenTopic("a");
  WaitingDelivery delivery(3);
  delivery.Send(producer, *a, "1");
  delivery.Send(producer, *a, "2");
  delivery.Send(producer, *a, "345");
  producer.EndOfBatch();
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0) == "delivered");
  CHECK(delivery.Fate(1) == "delivered");
  CHECK(delivery.Fate(2) ==
        "delivery_failed: appending to d/topics/a.ndjson failed: No space left on device");
  CHECK(producer.trouble() == "appending to d/topics/a.ndjson failed: No space left on device");
  {
    const std::lock_guard lock(disk->mutex);
    disk->room_bytes = UINT64_MAX;
  }
  WaitingDelivery next(1);
  next.Send(producer, *a, "6");
  producer.EndOfBatch();
  REQUIRE(next.Wait());
  CHECK(next.Fate(0) == "delivered");
  CHECK(disk->Text("d/topics/a.ndjson") == "1\n2\n6\n");
  producer.Stop(InTime());
  CHECK(producer.trouble() == "");
  CHECK(metrics.records_in_flight() == 0);
}

TEST_CASE_FIXTURE(Fixture, "FilesProducer: a topic that is no file name is refused") {
  REQUIRE(producer.Start().has_value());
  WaitingDelivery delivery(1);
  delivery.Send(producer, *producer.OpenTopic(std::string(300, 'x')), "1");
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0).starts_with("stream_not_configured: "));
}

TEST_CASE_FIXTURE(Fixture, "FilesProducer: Stop writes what is queued and then refuses") {
  REQUIRE(producer.Start().has_value());
  Topic* a = producer.OpenTopic("a");
  WaitingDelivery delivery(2);
  delivery.Send(producer, *a, "1");
  CHECK(producer.Stop(InTime()).lost == 0);
  CHECK(disk->Text("d/topics/a.ndjson") == "1\n");
  delivery.Send(producer, *a, "2");
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(1) == "shutting_down: the service is shutting down");
}

TEST_CASE_FIXTURE(Fixture,
                  "FilesProducer: Stop past its deadline counts the hasty records as lost") {
  Gate gate("sync");
  disk->fail = [&](const std::string& call, const std::string&) { return gate.Pass(call); };
  REQUIRE(producer.Start().has_value());
  Topic* a = producer.OpenTopic("a");
  WaitingDelivery delivery(4);
  delivery.Send(producer, *a, "0");
  producer.EndOfBatch();
  gate.AwaitReached();
  delivery.Send(producer, *a, "1", DeliveryMode::kHasty);
  delivery.Send(producer, *a, "2", DeliveryMode::kHasty);
  delivery.Send(producer, *a, "3", DeliveryMode::kGuaranteed);
  auto stopped = std::async(std::launch::async, [&] { return producer.Stop(steady_clock::now()); });
  // Produce refuses as soon as Stop was heard: only then is the writer let go.
  std::deque<WaitingDelivery> probes;
  do {
    probes.emplace_back(1).Send(producer, *a, "");
  } while (probes.back().slot(0).state() == DeliverySlot::State::kPending);
  CHECK(probes.back().Fate(0).starts_with("shutting_down: "));
  gate.Open();
  CHECK(stopped.get().lost == 2);
  for (WaitingDelivery& probe : probes) CHECK(probe.Wait());
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0) == "delivered");
  CHECK(delivery.Fate(3).starts_with("shutting_down: "));
  CHECK(metrics.records_in_flight() == 0);
}

TEST_CASE_FIXTURE(Fixture, "FilesProducer: Start repairs the files it finds") {
  disk->files["d/topics/old.ndjson"] = std::make_shared<std::string>("a\nb");
  disk->files["d/topics/other.txt"] = std::make_shared<std::string>("a\nb");
  REQUIRE(producer.Start().has_value());
  CHECK(disk->Text("d/topics/old.ndjson") == "a\n");
  CHECK(disk->Text("d/topics/other.txt") == "a\nb");
}

TEST_CASE_FIXTURE(Fixture, "FilesProducer: a folder that cannot be written is one sentence") {
  disk->fail = [](const std::string& call, const std::string&) {
    return call == "check_writable" ? EACCES : 0;
  };
  const auto result = producer.Start();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message ==
        "writing into d/topics failed (Permission denied): set data_dir to a folder that this user "
        "may write");
}

TEST_CASE_FIXTURE(Fixture, "FilesProducer: a folder that another process writes is refused") {
  disk->fail = [](const std::string& call, const std::string&) {
    return call == "lock" ? EWOULDBLOCK : 0;
  };
  const auto result = producer.Start();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.starts_with("another process writes into d/topics: "));
}

TEST_CASE_FIXTURE(Fixture, "FilesProducer: more topics than open files") {
  REQUIRE(producer.Start().has_value());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5; ++i) {
      WaitingDelivery delivery(1);
      delivery.Send(producer, *producer.OpenTopic("t" + std::to_string(i)), "v");
      producer.EndOfBatch();
      REQUIRE(delivery.Wait());
      CHECK(delivery.Fate(0) == "delivered");
    }
  }
  CHECK(disk->Text("d/topics/t0.ndjson") == "v\nv\n");
  CHECK(disk->Count("open") == 10);
}

TEST_CASE("FilesProducer: records of many threads are all written once") {
  Fixture f(1u << 20, 4);
  REQUIRE(f.producer.Start().has_value());
  constexpr int kThreads = 4;
  constexpr int kRequests = 200;
  std::atomic<int> delivered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Topic* topic = f.producer.OpenTopic("t" + std::to_string(t % 2));
      for (int i = 0; i < kRequests; ++i) {
        WaitingDelivery delivery(3);
        for (int k = 0; k < 3; ++k) delivery.Send(f.producer, *topic, "abcd");
        f.producer.EndOfBatch();
        if (!delivery.Wait()) return;
        for (int k = 0; k < 3; ++k) delivered += delivery.Fate(k) == "delivered";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(delivered == kThreads * kRequests * 3);
  const std::string all = f.disk->Text("d/topics/t0.ndjson") + f.disk->Text("d/topics/t1.ndjson");
  CHECK(all.size() == 5u * kThreads * kRequests * 3);
  CHECK(static_cast<int>(std::count(all.begin(), all.end(), '\n')) == kThreads * kRequests * 3);
}

}  // namespace sluice::produce
