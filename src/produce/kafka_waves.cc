#include "produce/kafka_waves.h"

#include <algorithm>

namespace sluice::produce {
namespace {

// What a record takes in a batch besides key and value, at most: lengths, offsets, a timestamp.
constexpr std::uint64_t kRecordOverhead = 36;

}  // namespace

bool KafkaWaves::MayJoin(const Record& record, Time now) const {
  return now < joining_until_ && wave_records_ < options_.batch_records &&
         wave_bytes_ + record.value.size() + record.key.size() + kRecordOverhead <=
             options_.batch_bytes;
}

void KafkaWaves::Join(const Record& record) {
  ++on_their_way_;
  ++wave_records_;
  wave_bytes_ += record.value.size() + record.key.size() + kRecordOverhead;
}

void KafkaWaves::BeginWave(Time now) {
  joining_until_ = now + options_.linger;
  wave_records_ = 0;
  wave_bytes_ = 0;
}

rd_kafka_resp_err_t KafkaWaves::Produce(const Record& record, DeliverySlot* slot, Time now) {
  const std::lock_guard lock(mutex_);
  if (passing_ == Passing::kInWaves && (!held_.empty() || !MayJoin(record, now))) {
    if (!held_.empty() || on_their_way_ >= kFew) {
      held_.push_back({record, slot, now});
      held_count_.fetch_add(1, std::memory_order_relaxed);
      return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    BeginWave(now);
  }
  const rd_kafka_resp_err_t error = send_(record, slot);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) Join(record);
  return error;
}

void KafkaWaves::Count() {
  const std::lock_guard lock(mutex_);
  ++on_their_way_;
}

void KafkaWaves::Uncount() {
  const std::lock_guard lock(mutex_);
  --on_their_way_;
}

void KafkaWaves::SendHeld(std::vector<Refused>& refused) {
  const Held one = held_.front();
  held_.pop_front();
  held_count_.fetch_sub(1, std::memory_order_relaxed);
  const rd_kafka_resp_err_t error = send_(one.record, one.slot);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Join(one.record);
  refused.push_back({one.record, one.slot, error});
}

void KafkaWaves::OnReports(std::uint32_t reports, Time now, std::vector<Refused>& refused) {
  const std::lock_guard lock(mutex_);
  reported_at_ = now;
  on_their_way_ -= std::min(reports, on_their_way_);
  if (on_their_way_ == 0 && passing_ == Passing::kUntilIdle) passing_ = Passing::kInWaves;
  if (on_their_way_ >= kFew || held_.empty()) return;
  BeginWave(now);
  do {
    SendHeld(refused);  // the first one whatever its size
  } while (!held_.empty() && MayJoin(held_.front().record, now));
}

void KafkaWaves::Tick(Time now, std::vector<Refused>& refused) {
  const std::lock_guard lock(mutex_);
  if (held_.empty()) return;
  const Time since = held_.front().since;
  if (now - std::max(since, reported_at_) < kLongestSilence && now - since < kLongestHold) return;
  passing_ = Passing::kUntilIdle;
  while (!held_.empty()) SendHeld(refused);
}

void KafkaWaves::Open(std::vector<Refused>& refused) {
  const std::lock_guard lock(mutex_);
  passing_ = Passing::kForGood;
  while (!held_.empty()) SendHeld(refused);
}

}  // namespace sluice::produce
