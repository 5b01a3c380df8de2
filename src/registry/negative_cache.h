#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/error.h"

namespace sluice::registry {

// Which schema URIs could not be loaded, and why, each for a while. Expiry is jittered by up to a
// quarter either way, so that entries made together do not end together. Bounded: at the bound,
// expired entries go, then any. Not thread-safe.
class NegativeCache {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  NegativeCache(std::size_t max_entries, std::uint32_t seed)
      : max_entries_(max_entries), random_(seed) {}

  void Put(const std::string& uri, core::Error error, TimePoint now, std::chrono::milliseconds ttl);
  // The error, or null if there is none that still holds.
  const core::Error* Find(const std::string& uri, TimePoint now);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    core::Error error;
    TimePoint expires;
  };
  void MakeRoom(TimePoint now);

  const std::size_t max_entries_;
  std::minstd_rand random_;
  std::unordered_map<std::string, Entry> entries_;
};

// How many loads of schema URIs never seen before may begin: `per_minute` at once, and then as many
// a minute. Not thread-safe.
class LoadBudget {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Zero or less: no bound.
  explicit LoadBudget(int per_minute) : per_minute_(per_minute), left_(per_minute) {}

  bool Take(TimePoint now);
  // The URI turned out to be a schema: those are finite, so they do not count.
  void GiveBack();

 private:
  double per_minute_;
  double left_;
  std::optional<TimePoint> filled_;
};

}  // namespace sluice::registry
