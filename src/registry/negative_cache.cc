#include "registry/negative_cache.h"

#include <algorithm>
#include <utility>

namespace sluice::registry {

void NegativeCache::Put(const std::string& uri, core::Error error, TimePoint now,
                        std::chrono::milliseconds ttl) {
  if (entries_.size() >= max_entries_) MakeRoom(now);
  std::uniform_real_distribution<double> jitter(0.75, 1.25);
  const auto life = std::chrono::duration_cast<TimePoint::duration>(ttl * jitter(random_));
  entries_.insert_or_assign(uri, Entry{std::move(error), now + life});
}

const core::Error* NegativeCache::Find(const std::string& uri, TimePoint now) {
  const auto found = entries_.find(uri);
  if (found == entries_.end()) return nullptr;
  if (found->second.expires > now) return &found->second.error;
  entries_.erase(found);
  return nullptr;
}

void NegativeCache::MakeRoom(TimePoint now) {
  std::erase_if(entries_, [now](const auto& entry) { return entry.second.expires <= now; });
  while (entries_.size() >= max_entries_) entries_.erase(entries_.begin());
}

bool LoadBudget::Take(TimePoint now) {
  if (per_minute_ <= 0) return true;
  if (filled_) {
    const std::chrono::duration<double> since = now - *filled_;
    left_ = std::min(per_minute_, left_ + since.count() * per_minute_ / 60);
  }
  filled_ = now;
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

void LoadBudget::GiveBack() { left_ = std::min(per_minute_, left_ + 1); }

}  // namespace sluice::registry
