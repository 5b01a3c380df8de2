#include "intake/rate_table.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace sluice::intake {
namespace {

constexpr std::size_t kMaxShards = 16;
constexpr std::size_t kKeysForAShard = 1024;  // below that one lock is enough
constexpr double kNanoseconds = 1e9;
constexpr double kLongestCost = 86400 * kNanoseconds;  // of one step

std::size_t ShardCount(int max_keys) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(max_keys) / kKeysForAShard, 1,
                                 kMaxShards);
}

// How long a bucket of that rate takes to get `amount` back.
std::int64_t Cost(std::uint64_t amount, std::uint64_t rate) {
  const double cost = static_cast<double>(amount) * kNanoseconds / static_cast<double>(rate);
  return static_cast<std::int64_t>(std::min(cost, kLongestCost));
}

}  // namespace

RateTable::RateTable(const core::RateOptions& rates, std::chrono::milliseconds burst, int max_keys)
    : keys_per_shard_(static_cast<std::size_t>(max_keys) / ShardCount(max_keys)) {
  for (std::size_t i = 0; i < ShardCount(max_keys); ++i) {
    shards_.push_back(std::make_unique<Shard>());
  }
  Configure(rates, burst);
}

void RateTable::Configure(const core::RateOptions& rates, std::chrono::milliseconds burst) {
  rates_[static_cast<int>(RateKind::kRequests)] = static_cast<std::uint64_t>(rates.requests);
  rates_[static_cast<int>(RateKind::kEvents)] = static_cast<std::uint64_t>(rates.events);
  rates_[static_cast<int>(RateKind::kBytes)] = rates.bytes;
  burst_ = std::chrono::nanoseconds(burst).count();
  any_ = rates.any();
}

std::size_t RateTable::KeyHash::operator()(const Key& key) const {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(key.data()), key.size()});
}

bool RateTable::Bucket::IsFull(std::int64_t now) const {
  return std::all_of(full_at.begin(), full_at.end(), [now](std::int64_t at) { return at <= now; });
}

void RateTable::Unlink(Shard& shard, Bucket& bucket) {
  (bucket.newer != nullptr ? bucket.newer->older : shard.newest) = bucket.older;
  (bucket.older != nullptr ? bucket.older->newer : shard.oldest) = bucket.newer;
  bucket.newer = bucket.older = nullptr;
}

void RateTable::LinkNewest(Shard& shard, Bucket& bucket) {
  bucket.older = shard.newest;
  (shard.newest != nullptr ? shard.newest->newer : shard.oldest) = &bucket;
  shard.newest = &bucket;
}

RateTable::Bucket& RateTable::BucketOf(Shard& shard, const Key& key, std::int64_t now) {
  if (const auto found = shard.buckets.find(key); found != shard.buckets.end()) {
    Unlink(shard, found->second);
    LinkNewest(shard, found->second);
    return found->second;
  }
  if (shard.buckets.size() >= keys_per_shard_) {
    // The one that was used longest ago is the likeliest to be full again.
    if (shard.oldest == nullptr || !shard.oldest->IsFull(now)) {
      shared_.fetch_add(1, std::memory_order_relaxed);
      return shard.common;
    }
    Bucket& gone = *shard.oldest;
    Unlink(shard, gone);
    const Key gone_key = gone.key;  // the bucket goes with its key
    shard.buckets.erase(gone_key);
    size_.fetch_sub(1, std::memory_order_relaxed);
  }
  Bucket& bucket = shard.buckets[key];
  bucket.key = key;
  LinkNewest(shard, bucket);
  size_.fetch_add(1, std::memory_order_relaxed);
  return bucket;
}

std::optional<RateRefusal> RateTable::Take(const Key& key, const RateAmounts& amounts,
                                           Clock::time_point now) {
  const std::int64_t at =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  Shard& shard = *shards_[KeyHash()(key) / 7 % shards_.size()];  // not the bits that the map uses
  const std::lock_guard lock(shard.mutex);
  return TakeFrom(BucketOf(shard, key, at), amounts, at);
}

std::optional<RateRefusal> RateTable::TakeFrom(Bucket& bucket, const RateAmounts& amounts,
                                               std::int64_t now) {
  const std::array<std::uint64_t, kRateKindCount> wanted{amounts.requests, amounts.events,
                                                         amounts.bytes};
  const std::int64_t burst = burst_.load(std::memory_order_relaxed);
  std::array<std::int64_t, kRateKindCount> full_at = bucket.full_at;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::uint64_t rate = rates_[i].load(std::memory_order_relaxed);
    if (wanted[i] == 0 || rate == 0) continue;
    const std::int64_t cost = Cost(wanted[i], rate);
    const std::int64_t begin = std::max(full_at[i], now);
    const std::int64_t wait = begin + std::min(cost, burst) - burst - now;
    if (wait > 0) return RateRefusal{static_cast<RateKind>(i), std::chrono::nanoseconds(wait)};
    full_at[i] = begin + cost;
  }
  bucket.full_at = full_at;
  return std::nullopt;
}

}  // namespace sluice::intake
