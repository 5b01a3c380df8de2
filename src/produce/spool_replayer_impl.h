#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/read_file.h"
#include "produce/spool_replayer.h"

// Shared by the sources of SpoolReplayer only.
namespace sluice::produce {

inline constexpr std::chrono::milliseconds kReplayBackoff{1000};  // after a failure

// Some records in a row, and how far they are.
struct SpoolReplayer::Chunk {
  struct Item {
    Topic* topic = nullptr;
    std::string_view topic_name;
    Record record;
    std::uint64_t sequence = 0;
    std::int64_t spooled_ms = 0;
    DeliveryMode mode = DeliveryMode::kHasty;
    bool done = false;  // delivered or set aside
  };
  std::string bytes;  // what the items view
  std::vector<Item> items;
  SpoolPosition end;
  std::unique_ptr<Attempt> attempt;
  std::vector<std::size_t> tried;  // tried[i] is the item of slot i
  bool reported = false;           // all slots are done; under the replayer's mutex
  bool settled = false;            // nothing is left to do
};

// The records of a chunk on their way, once.
class SpoolReplayer::Attempt final : public Delivery {
 public:
  Attempt(SpoolReplayer& replayer, Chunk& chunk) : replayer_(replayer), chunk_(chunk) {}

 private:
  // The chunk may be gone as soon as the lock is free.
  void OnAllDone() override {
    SpoolReplayer& replayer = replayer_;
    {
      const std::lock_guard lock(replayer.mutex_);
      chunk_.reported = true;
      --replayer.attempts_;
      replayer.notified_ = true;
      replayer.wake_.notify_one();
    }
  }

  SpoolReplayer& replayer_;
  Chunk& chunk_;
};

}  // namespace sluice::produce
