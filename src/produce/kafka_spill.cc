#include "produce/kafka_spill.h"

namespace sluice::produce {
namespace {

// Of a guaranteed record the requester is told what the broker says; a hasty one has nobody else,
// and what the broker refuses today it may take tomorrow.
bool BelongsIntoSpool(DeliveryMode mode, core::ErrorCode code) {
  switch (code) {
    case core::ErrorCode::kDeliveryTimeout:
    case core::ErrorCode::kQueueFull:
    case core::ErrorCode::kShuttingDown:
      return true;
    case core::ErrorCode::kTopicUnknown:
    case core::ErrorCode::kDeliveryFailed:
      return mode == DeliveryMode::kHasty;
    default:
      return false;
  }
}

}  // namespace

bool KafkaSpill::Stalled(std::uint64_t queued_bytes, Reach reach) {
  if (!spool_.Covers(mode_)) return false;
  if (reach == Reach::kOutOfReach) return true;
  const std::int64_t now = Now();
  if (queued_bytes == 0) {  // the clock runs from the first record that waits
    progress_.store(now, std::memory_order_relaxed);
    return false;
  }
  return now - progress_.load(std::memory_order_relaxed) > after_.count();
}

bool KafkaSpill::Take(std::string_view topic, const Record& record, const Fate& fate,
                      std::string_view message, DeliverySlot* slot) {
  if (!BelongsIntoSpool(mode_, fate.code)) return false;
  return spool_.Take(
      {.mode = mode_,
       .written = fate.persistence == Persistence::kPerhaps ? Written::kPerhaps : Written::kNo,
       .topic = topic,
       .record = record,
       .code = fate.code,
       .message = message},
      slot);
}

}  // namespace sluice::produce
