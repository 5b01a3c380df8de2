#include "produce/replay_ledger.h"

namespace sluice::produce {

bool ReplayLedger::Admit(const DeliverySlot* slot, Time first, Time now,
                         std::chrono::milliseconds window) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_.try_emplace(slot, Entry{first}).first->second;
  size_.store(entries_.size(), std::memory_order_release);
  if (now - entry.first > window || entry.replays == kMaxReplays) return false;
  ++entry.replays;
  return true;
}

bool ReplayLedger::AdmitRestamp(const DeliverySlot* slot) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(slot);
  if (at == entries_.end() || at->second.restamped) return false;
  at->second.restamped = true;
  return true;
}

void ReplayLedger::Forget(const DeliverySlot* slot) {
  if (size() == 0) return;
  const std::lock_guard lock(mutex_);
  entries_.erase(slot);
  size_.store(entries_.size(), std::memory_order_release);
}

}  // namespace sluice::produce
