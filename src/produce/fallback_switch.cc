#include "produce/fallback_switch.h"

#include <algorithm>

namespace sluice::produce {

bool FallbackSwitch::Observe(Sign sign, Time now) {
  const Time::duration step = std::clamp<Time::duration>(now - seen_at_, {}, kLongestStep);
  seen_at_ = now;
  const bool first = target_ == KafkaTarget::kFirst;
  if (first == (sign == Sign::kWell)) {
    contrary_ = {};
    return false;
  }
  contrary_ += step;
  if (contrary_ < (first ? options_.after : options_.back_after)) return false;
  target_ = first ? KafkaTarget::kFallback : KafkaTarget::kFirst;
  contrary_ = {};
  return true;
}

}  // namespace sluice::produce
