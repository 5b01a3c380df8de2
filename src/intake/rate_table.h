#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/config.h"

namespace sluice::intake {

// What is limited.
enum class RateKind : std::uint8_t { kRequests, kEvents, kBytes };
inline constexpr int kRateKindCount = 3;

// What one step takes from a bucket; 0: nothing of that kind.
struct RateAmounts {
  std::uint64_t requests = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

// Why nothing was taken, and when the same could be.
struct RateRefusal {
  RateKind kind;
  std::chrono::nanoseconds wait;
};

// Token buckets by a key of 16 bytes, in a table that never grows beyond its bound. A bucket that
// is full again is as good as one that was never seen, so these make room for new keys. While there
// are none, further keys share one bucket: a flood of keys can neither fill the memory nor get
// around the limit. Any thread.
class RateTable {
 public:
  using Key = std::array<unsigned char, 16>;
  using Clock = std::chrono::steady_clock;

  RateTable(const core::RateOptions& rates, std::chrono::milliseconds burst, int max_keys);

  // From now on. Buckets keep the time that they owe.
  void Configure(const core::RateOptions& rates, std::chrono::milliseconds burst);

  // Whether anything is limited; costs one relaxed load.
  bool any() const { return any_.load(std::memory_order_relaxed); }

  // Takes all of `amounts`, or nothing if one kind is used up. What is larger than a bucket is
  // given if the bucket is full, which then owes the rest: large bodies are slowed down, not shut
  // out.
  std::optional<RateRefusal> Take(const Key& key, const RateAmounts& amounts,
                                  Clock::time_point now);

  // Keys that have a bucket of their own.
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  // How often a key had to share the common bucket.
  std::uint64_t shared() const { return shared_.load(std::memory_order_relaxed); }

 private:
  // When each kind will be full again, in nanoseconds of the clock: the whole state of a bucket.
  struct Bucket {
    std::array<std::int64_t, kRateKindCount> full_at{};
    Key key{};
    Bucket* newer = nullptr;
    Bucket* older = nullptr;
    bool IsFull(std::int64_t now) const;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<Key, Bucket, KeyHash> buckets;
    Bucket* newest = nullptr;  // by last use
    Bucket* oldest = nullptr;
    Bucket common;
  };

  Bucket& BucketOf(Shard& shard, const Key& key, std::int64_t now);
  static void Unlink(Shard& shard, Bucket& bucket);
  static void LinkNewest(Shard& shard, Bucket& bucket);
  std::optional<RateRefusal> TakeFrom(Bucket& bucket, const RateAmounts& amounts, std::int64_t now);

  std::atomic<bool> any_{false};
  std::array<std::atomic<std::uint64_t>, kRateKindCount> rates_{};  // a second; 0: no limit
  std::atomic<std::int64_t> burst_{0};                              // nanoseconds
  std::size_t keys_per_shard_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> shared_{0};
};

}  // namespace sluice::intake
