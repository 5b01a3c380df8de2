#include "produce/spool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "core/metrics.h"
#include "produce/crc32c.h"
#include "produce/spool_inspect.h"
#include "unit/produce/fake_file_ops.h"
#include "unit/produce/replay_recorder.h"
#include "unit/produce/waiting_delivery.h"

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

struct Fixture {
  std::shared_ptr<FakeFileOps::Disk> disk = std::make_shared<FakeFileOps::Disk>();
  FakeFileOps ops{disk};
  core::Metrics metrics{{}, "test"};
  core::SpoolOptions options;
  ReplayRecorder target;
  std::unique_ptr<Spool> spool;

  Fixture() { options.mode = core::SpoolMode::kAll; }

  void Start() {
    spool = std::make_unique<Spool>(options, "s", ops, metrics, milliseconds(1));
    spool->Start(target);
  }
  Spool::Report Stop() {
    spool->StopReplay();
    const Spool::Report report = spool->Finish(steady_clock::now() + seconds(10));
    spool.reset();
    return report;
  }
  // "delivered", "refused" (not taken), or the failure.
  std::string Put(const std::string& value, DeliveryMode mode = DeliveryMode::kGuaranteed,
                  const std::string& topic = "t") {
    WaitingDelivery delivery(1);
    DeliverySlot* slot = delivery.Add();
    metrics.RecordsHanded(1);
    if (!spool->Take({.mode = mode,
                      .topic = topic,
                      .record = {.value = value, .key = "k", .has_key = true, .timestamp_ms = 7},
                      .code = core::ErrorCode::kQueueFull,
                      .message = "full"},
                     slot)) {
      metrics.RecordsFailed(1);
      Delivery::CompleteFailed(slot, core::ErrorCode::kQueueFull, "refused");
    }
    REQUIRE(delivery.Wait());
    if (delivery.slot(0).state() == DeliverySlot::State::kDelivered)
      CHECK(delivery.slot(0).durability == Durability::kSpool);
    return delivery.slot(0).message == "refused" ? "refused" : delivery.Fate(0);
  }
  template <class Condition>
  bool Eventually(Condition condition) {
    const auto end = steady_clock::now() + seconds(20);
    while (!condition() && steady_clock::now() < end) std::this_thread::yield();
    return condition();
  }
  double Metric(const std::string& name) {
    const std::string text = "\n" + metrics.Scrape();
    const std::size_t at = text.find("\n" + name);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(text.find(' ', at + name.size()) + 1));
  }
};

// The spool is filled while nothing is replayed.
struct Filled : Fixture {
  std::atomic<bool> hold{true};
  std::atomic<int> sent{0};
  Filled() {
    target.decide = [this](const std::string&) {
      ++sent;
      return hold ? ReplayRecorder::Decision::kTimeOut : ReplayRecorder::Decision::kDeliver;
    };
  }
};

}  // namespace

TEST_CASE("Crc32c: known values, with and without the processor's instruction") {
  CHECK(Crc32c("123456789") == 0xe3069283);
  CHECK(Crc32c("") == 0);
  CHECK(Crc32c("56789", Crc32c("1234")) == 0xe3069283);
  const std::string text(1000, 'x');
  for (std::size_t n : {0, 1, 7, 8, 9, 63, 1000})
    CHECK(Crc32c(text.substr(0, n)) == Crc32cPortable(text.substr(0, n)));
}

TEST_CASE_FIXTURE(Fixture, "Spool: a record is on disk, then in Kafka, then gone from the disk") {
  Start();
  CHECK(spool->state() == SpoolState::kOn);
  CHECK(Put("a") == "delivered");
  CHECK(Put("b", DeliveryMode::kHasty, "u") == "delivered");
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  CHECK(target.delivered() == std::vector<std::string>{"t k=a", "u k=b"});
  const auto report = Stop();
  CHECK(report.written == 2);
  CHECK(report.replayed == 2);
  CHECK(report.waiting == 0);
  CHECK(metrics.records_in_flight() == 0);
  CHECK(Metric("sluice_spool_written_total{mode=\"hasty\"}") == 1);
  CHECK(Metric("sluice_records_spooled_total") == 2);
}

// librdkafka keeps a copy of the key, which goes with the delivery report; the value stays.
TEST_CASE_FIXTURE(Fixture, "Spool: the key may be gone once Take has returned") {
  constexpr int kRecords = 500;
  Start();
  WaitingDelivery delivery(kRecords);
  for (int i = 0; i < kRecords; ++i) {
    std::string key = "a key that is too long to be kept in place";
    DeliverySlot* slot = delivery.Add();
    metrics.RecordsHanded(1);
    REQUIRE(spool->Take({.mode = DeliveryMode::kGuaranteed,
                         .topic = "t",
                         .record = {.value = "v", .key = key, .has_key = true},
                         .code = core::ErrorCode::kDeliveryTimeout,
                         .message = "timed out"},
                        slot));
    key.assign(key.size(), '?');
  }
  REQUIRE(delivery.Wait());
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  Stop();
  const auto delivered = target.delivered();
  CHECK(std::count(delivered.begin(), delivered.end(),
                   "t a key that is too long to be kept in place=v") == kRecords);
}

TEST_CASE_FIXTURE(Fixture, "Spool: takes only the modes that it is for") {
  options.mode = core::SpoolMode::kHasty;
  Start();
  CHECK(Put("a") == "refused");
  CHECK(Put("b", DeliveryMode::kHasty) == "delivered");
  Stop();
}

TEST_CASE_FIXTURE(Filled, "Spool: what was not delivered is sent after the next start, in order") {
  Start();
  for (int i = 0; i < 10; ++i) CHECK(Put(std::to_string(i)) == "delivered");
  CHECK(Eventually([&] { return sent > 0; }));
  const int sent_before = sent;
  CHECK(Stop().waiting == 10);
  hold = false;
  Start();
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  Stop();
  std::vector<std::string> wanted;
  for (int i = 0; i < 10; ++i) wanted.push_back("t k=" + std::to_string(i));
  CHECK(target.delivered() == wanted);
  CHECK(Metric("sluice_spool_possible_duplicates_total") >= sent_before);
}

TEST_CASE_FIXTURE(Fixture, "Spool: at its bound it refuses, and what it has stays") {
  std::atomic<bool> hold = true;
  target.decide = [&](const std::string&) {
    return hold ? ReplayRecorder::Decision::kTimeOut : ReplayRecorder::Decision::kDeliver;
  };
  options.max_bytes = 2000;
  Start();
  const std::string value(600, 'x');
  int taken = 0;
  while (taken < 10 && Put(value) == "delivered") ++taken;
  CHECK(taken == 3);
  CHECK(spool->state() == SpoolState::kFull);
  CHECK(spool->trouble().find("spool.max_bytes") != std::string::npos);
  hold = false;
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  CHECK(target.delivered().size() == 3);
  CHECK(Eventually([&] { return spool->state() == SpoolState::kOn; }));  // the segment is removed
  CHECK(Put("after") == "delivered");
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "Spool: a full disk turns it off, nobody waits, and it comes back") {
  Start();
  CHECK(Put("before") == "delivered");
  {
    const std::lock_guard lock(disk->mutex);
    disk->room_bytes = 10;
  }
  const std::string fate = Put("lost", DeliveryMode::kHasty);
  CHECK(
      fate.starts_with("queue_full: full; the spool cannot be written (No space left on device)"));
  CHECK(spool->state() == SpoolState::kBroken);
  CHECK(Put("refused at once") == "refused");
  {
    const std::lock_guard lock(disk->mutex);
    disk->room_bytes = UINT64_MAX;
  }
  CHECK(Eventually([&] { return spool->state() == SpoolState::kOn; }));
  CHECK(Put("after") == "delivered");
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  CHECK(Stop().lost == 0);  // it was told of when it happened
  CHECK(target.delivered() == std::vector<std::string>{"t k=before", "t k=after"});
  CHECK(Metric("sluice_spool_failures_total") >= 1);
  CHECK(metrics.records_in_flight() == 0);
}

TEST_CASE_FIXTURE(Fixture, "Spool: what a full disk loses at the end is told by the stop") {
  Start();
  CHECK(Put("before") == "delivered");
  {
    const std::lock_guard lock(disk->mutex);
    disk->room_bytes = 10;
  }
  spool->StopReplay();
  CHECK(Put("lost", DeliveryMode::kHasty).starts_with("queue_full: "));
  CHECK(Put("told to its requester") == "refused");
  CHECK(Stop().lost == 1);
}

TEST_CASE_FIXTURE(Fixture, "Spool: a folder that cannot be made is no end; it is tried again") {
  std::atomic<bool> broken = true;
  disk->fail = [&](const std::string& call, const std::string&) {
    return broken && call == "create_folders" ? EACCES : 0;
  };
  Start();
  CHECK(spool->state() == SpoolState::kBroken);
  CHECK(spool->trouble().find("spool.dir") != std::string::npos);
  CHECK(Put("a") == "refused");
  broken = false;
  CHECK(Eventually([&] { return spool->state() == SpoolState::kOn; }));
  CHECK(Put("b") == "delivered");
  Stop();
}

TEST_CASE_FIXTURE(Filled, "Spool: what is damaged is set aside, the others arrive") {
  Start();
  for (int i = 0; i < 5; ++i) CHECK(Put("value" + std::to_string(i)) == "delivered");
  Stop();
  {
    const std::lock_guard lock(disk->mutex);
    std::string& text = *disk->files.at("s/" + SegmentName(1));
    text[text.find("value2")] ^= 1;
  }
  hold = false;
  Start();
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  Stop();
  CHECK(target.delivered() ==
        std::vector<std::string>{"t k=value0", "t k=value1", "t k=value3", "t k=value4"});
  CHECK(Metric("sluice_spool_damaged_total") == 1);
  CHECK(disk->Text("s/aside/damaged-1.bin").find("alue2") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture,
                  "Spool: a record that is refused for good is set aside, the others arrive") {
  target.decide = [](const std::string& value) {
    return value == "b" ? ReplayRecorder::Decision::kTooLarge : ReplayRecorder::Decision::kDeliver;
  };
  Start();
  for (const char* value : {"a", "b", "c"}) CHECK(Put(value) == "delivered");
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  Stop();
  CHECK(target.delivered() == std::vector<std::string>{"t k=a", "t k=c"});
  CHECK(Metric("sluice_spool_set_aside_total") == 1);
  std::vector<std::string> aside;
  ReadSpoolAside(ops, "s", [&](const SpoolRecord& record) {
    aside.push_back(std::string(record.topic) + ' ' + std::string(record.record.value));
    return true;
  });
  CHECK(aside == std::vector<std::string>{"t b"});
}

TEST_CASE_FIXTURE(Fixture, "Spool: a record that fails for the time being is not overtaken") {
  std::atomic<int> failures = 1;
  target.decide = [&](const std::string& value) {
    if (value != "1" || failures-- <= 0) return ReplayRecorder::Decision::kDeliver;
    return ReplayRecorder::Decision::kTimeOut;
  };
  options.replay_window = 1;
  Start();
  for (int i = 0; i < 4; ++i) CHECK(Put(std::to_string(i)) == "delivered");
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  Stop();
  CHECK(target.delivered() == std::vector<std::string>{"t k=0", "t k=1", "t k=2", "t k=3"});
}

TEST_CASE_FIXTURE(Filled, "Spool: a start reads the ends of segments, not their records") {
  options.segment_bytes = 4096;
  Start();
  for (int i = 0; i < 100; ++i) Put(std::string(200, 'x'));
  CHECK(Stop().waiting == 100);
  std::atomic<std::size_t> reads = 0;
  disk->fail = [&](const std::string& call, const std::string&) {
    if (call == "read") ++reads;
    return 0;
  };
  SpoolLog log({.folder = "s", .now_ms = [] { return std::int64_t{0}; }}, ops);
  SpoolPosition done;
  SpoolLog::Recovery recovery;
  CHECK(log.Open(&done, &recovery) == 0);
  CHECK(recovery.unsealed == 0);
  CHECK(log.next_sequence() == 101);
  CHECK(reads == log.segments());
  CHECK(log.segments() > 5);
}

TEST_CASE_FIXTURE(Filled, "Spool: the end that a crash left unfinished is cut off and counted") {
  Start();
  Put("whole");
  Stop();
  {
    const std::lock_guard lock(disk->mutex);
    std::string& text = *disk->files.at("s/" + SegmentName(1));
    text.resize(text.size() - kSegmentFooterBytes);
    text += std::string(RecordMagic()) + "torn";
  }
  hold = false;
  Start();
  CHECK(Eventually([&] { return spool->waiting() == 0; }));
  Stop();
  CHECK(target.delivered() == std::vector<std::string>{"t k=whole"});
  CHECK(Metric("sluice_spool_torn_bytes_total") == 8);
  CHECK(Metric("sluice_spool_damaged_total") == 0);
}

TEST_CASE_FIXTURE(Filled, "SpoolInspect: finds every flipped bit") {
  options.segment_bytes = 3000;
  Start();
  for (int i = 0; i < 30; ++i) Put("value " + std::to_string(i) + std::string(40, 'y'));
  Stop();
  CHECK(InspectSpool(ops, "s", SpoolDepth::kRecords).problems.empty());
  CHECK(InspectSpool(ops, "s", SpoolDepth::kFooters).waiting == 30);
  std::mt19937 random(7);
  std::vector<std::string> names;
  for (const auto& [name, text] : disk->files) names.push_back(name);
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string& text = *disk->files.at(names[random() % names.size()]);
    if (text.empty()) continue;
    const std::size_t at = random() % text.size();
    const char bit = static_cast<char>(1 << random() % 8);
    text[at] ^= bit;
    found += InspectSpool(ops, "s", SpoolDepth::kRecords).problems.empty() ? 0 : 1;
    text[at] ^= bit;
  }
  CHECK(found == 1000);
  CHECK(InspectSpool(ops, "s", SpoolDepth::kRecords).problems.empty());
}

TEST_CASE_FIXTURE(Filled, "SpoolInspect: shows what is behind the checkpoint, and nothing twice") {
  Start();
  for (const char* value : {"a", "b"}) Put(value);
  Stop();
  std::vector<std::string> seen;
  const auto problems = ReadSpool(ops, "s", [&](const SpoolRecord& record) {
    CHECK(record.topic == "t");
    CHECK(record.record.key == "k");
    CHECK(record.record.timestamp_ms == 7);
    seen.emplace_back(record.record.value);
    return true;
  });
  CHECK(problems.empty());
  CHECK(seen == std::vector<std::string>{"a", "b"});
}

}  // namespace sluice::produce
