#include "intake/deadlines.h"

#include <utility>

namespace sluice::intake {
namespace {

// How much later than the answer that the pipeline owes by delivery_timeout the connection gives up
// on it.
constexpr std::chrono::seconds kDeliveryGrace{2};
// How long a client that was refused may take to read its answer.
constexpr std::chrono::seconds kLingerTime{2};

}  // namespace

Deadlines::Deadlines(const core::LimitOptions& limits) { Use(limits); }

// All entries of a list move by the same time, so its order stays.
void Deadlines::Use(const core::LimitOptions& limits) {
  const auto set = [this](Wait what, Clock::duration duration) {
    const auto change = duration - std::exchange(durations_[static_cast<int>(what)], duration);
    DeadlineEntry* entry = lists_[static_cast<int>(what)].first;
    for (; entry != nullptr; entry = entry->next_) entry->due_ += change;
  };
  set(Wait::kHeader, limits.header_timeout);
  set(Wait::kBody, limits.body_timeout);
  set(Wait::kIdle, limits.idle_timeout);
  set(Wait::kWrite, limits.write_timeout);
  set(Wait::kDelivery, limits.delivery_timeout + kDeliveryGrace);
  set(Wait::kLinger, kLingerTime);
}

void Deadlines::Unlink(DeadlineEntry& entry) {
  List& list = lists_[static_cast<int>(entry.wait_)];
  (entry.previous_ != nullptr ? entry.previous_->next_ : list.first) = entry.next_;
  (entry.next_ != nullptr ? entry.next_->previous_ : list.last) = entry.previous_;
  entry.previous_ = entry.next_ = nullptr;
  entry.wait_ = Wait::kNone;
}

void Deadlines::Set(DeadlineEntry& entry, Wait what) {
  if (entry.wait_ != Wait::kNone) Unlink(entry);
  if (what == Wait::kNone) return;
  entry.wait_ = what;
  entry.due_ = now_ + durations_[static_cast<int>(what)];
  List& list = lists_[static_cast<int>(what)];
  entry.previous_ = list.last;
  (list.last != nullptr ? list.last->next_ : list.first) = &entry;
  list.last = &entry;
}

void Deadlines::Sweep(Clock::time_point now) {
  now_ = now;
  for (List& list : lists_) {
    while (list.first != nullptr && list.first->due_ <= now) {
      DeadlineEntry& entry = *list.first;
      const Wait what = entry.wait_;
      Unlink(entry);
      entry.OnDeadline(what);
    }
  }
}

}  // namespace sluice::intake
