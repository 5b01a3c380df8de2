// A crash at every call of the spool to the operating system loses nothing that was confirmed.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "core/metrics.h"
#include "produce/spool.h"
#include "unit/produce/crash_file_ops.h"
#include "unit/produce/replay_recorder.h"
#include "unit/produce/waiting_delivery.h"

namespace sluice::produce {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr int kWindow = 4;

core::SpoolOptions SmallSegments() {
  core::SpoolOptions options;
  options.mode = core::SpoolMode::kAll;
  options.segment_bytes = 400;  // three records or so
  options.replay_window = kWindow;
  return options;
}

// Puts `count` records into the spool, a few at a time; adds those that were confirmed.
void Fill(Spool& spool, int first, int count, std::set<std::string>& confirmed) {
  for (int begin = first; begin < first + count; begin += 2) {
    std::vector<std::string> values = {"v" + std::to_string(begin),
                                       "v" + std::to_string(begin + 1)};
    WaitingDelivery delivery(2);
    std::vector<bool> taken;
    for (const std::string& value : values) {
      DeliverySlot* slot = delivery.Add();
      taken.push_back(spool.Take({.mode = DeliveryMode::kGuaranteed,
                                  .topic = "t",
                                  .record = {.value = value, .key = {}},
                                  .code = core::ErrorCode::kQueueFull,
                                  .message = "full"},
                                 slot));
      if (!taken.back()) Delivery::CompleteFailed(slot, core::ErrorCode::kQueueFull, "refused");
    }
    REQUIRE(delivery.Wait());
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (delivery.Fate(i) == "delivered") confirmed.insert("t " + values[i]);
    }
  }
}

void AwaitDrained(const Spool& spool, const CrashDisk& disk) {
  const auto end = steady_clock::now() + seconds(20);
  while (spool.waiting() > 0 && !disk.dead() && steady_clock::now() < end)
    std::this_thread::yield();
}

struct Run {
  std::set<std::string> confirmed;
  std::vector<std::string> delivered;
};

// One life of a process; `first` numbers its records.
Run Live(const std::shared_ptr<CrashDisk>& disk, int first, int count) {
  Run run;
  CrashFileOps ops(disk);
  core::Metrics metrics({}, "test");
  ReplayRecorder target;
  Spool spool(SmallSegments(), "s", ops, metrics);
  spool.Start(target);
  Fill(spool, first, count, run.confirmed);
  AwaitDrained(spool, *disk);
  spool.StopReplay();
  spool.Finish(steady_clock::now() + seconds(20));
  run.delivered = target.delivered();
  return run;
}

void Check(const Run& before, const Run& after) {
  std::map<std::string, int> times;
  for (const std::string& value : before.delivered) ++times[value];
  for (const std::string& value : after.delivered) ++times[value];
  int twice = 0;
  for (const auto& [value, n] : times) {
    CHECK(n <= 2);
    twice += n - 1;
  }
  CHECK(twice <= 2 * kWindow);
  for (const Run* run : {&before, &after}) {
    for (const std::string& value : run->confirmed) {
      CAPTURE(value);
      CHECK(times.contains(value));
    }
  }
}

}  // namespace

TEST_CASE("Spool: a crash at any call loses nothing that was confirmed") {
  std::size_t crashes = 0;
  for (const auto unsynced :
       {CrashDisk::Unsynced::kLost, CrashDisk::Unsynced::kKept, CrashDisk::Unsynced::kHalf}) {
    for (std::size_t at = 1;; ++at) {
      CAPTURE(at);
      CAPTURE(static_cast<int>(unsynced));
      auto disk = std::make_shared<CrashDisk>();
      disk->crash_at = at;
      const Run before = Live(disk, 0, 12);
      if (!disk->dead()) {
        CHECK(before.confirmed.size() == 12);
        CHECK(before.delivered.size() == 12);
        break;
      }
      ++crashes;
      Check(before, Live(disk->AfterCrash(unsynced), 100, 4));
    }
  }
  CHECK(crashes > 100);
}

TEST_CASE("Spool: a crash at any call of the start after a crash loses nothing either") {
  // In the middle of writing; how many calls there are depends on what the threads do at once.
  std::shared_ptr<CrashDisk> disk;
  Run first;
  for (std::size_t at = 48; at > 16; at -= 4) {
    disk = std::make_shared<CrashDisk>();
    disk->crash_at = at;
    first = Live(disk, 0, 12);
    if (disk->dead()) break;
  }
  REQUIRE(disk->dead());
  REQUIRE(first.confirmed.size() >= 2);
  for (std::size_t at = 1;; ++at) {
    CAPTURE(at);
    auto again = disk->AfterCrash(CrashDisk::Unsynced::kHalf);
    again->crash_at = at;
    const Run second = Live(again, 100, 2);
    const bool done = !again->dead();
    const Run third = Live(again->AfterCrash(CrashDisk::Unsynced::kLost), 200, 2);
    std::set<std::string> delivered(first.delivered.begin(), first.delivered.end());
    delivered.insert(second.delivered.begin(), second.delivered.end());
    delivered.insert(third.delivered.begin(), third.delivered.end());
    for (const Run* run : std::initializer_list<const Run*>{&first, &second, &third}) {
      CHECK(std::includes(delivered.begin(), delivered.end(), run->confirmed.begin(),
                          run->confirmed.end()));
    }
    if (done) break;
  }
}

}  // namespace sluice::produce
