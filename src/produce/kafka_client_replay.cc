// What a client does with records that are produced more than once, or not with others, and with
// its instances other than the present one.
#include <algorithm>
#include <utility>

#include "core/log.h"
#include "produce/kafka_client.h"

namespace sluice::produce {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRenewInterval{1000};

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

DeliverySlot* SlotOf(const rd_kafka_message_t& message) {
  return static_cast<DeliverySlot*>(message._private);
}

}  // namespace

// True if the record is on its way again.
bool KafkaClient::TryReplay(KafkaHandle& handle, const rd_kafka_message_t& message,
                            const Fate& fate) {
  if (fate.replay == Replay::kNever) return false;
  const std::shared_lock moving(replay_mutex_);
  if (phase_.load(std::memory_order_relaxed) == Phase::kPurging) return false;
  if (fate.persistence == Persistence::kPerhaps && mode_ == DeliveryMode::kGuaranteed) return false;
  std::string reason;
  if (fate.replay == Replay::kNextGeneration && !handle.IsFatal(&reason)) return false;
  const auto now = steady_clock::now();
  const std::chrono::microseconds latency{
      std::max<std::int64_t>(rd_kafka_message_latency(&message), 0)};
  const bool admitted =
      mode_ == DeliveryMode::kGuaranteed && fate.replay != Replay::kNextGeneration
          ? replays_.Admit(SlotOf(message), now - latency, now, limits_.timeout / 4 * 3)
          : replays_.Admit(SlotOf(message), now - latency, now);
  if (!admitted) return false;
  bool is_alone = false;
  {
    const std::lock_guard lock(others_mutex_);
    is_alone = alone_.get() == &handle;
  }
  std::int64_t timestamp_ms = rd_kafka_message_timestamp(&message, nullptr);
  bool on_its_way = false;
  if (fate.replay == Replay::kNextGeneration) {
    Renew(handle, reason);
    on_its_way = ReplayInNextGeneration(message);
  } else if (!is_alone) {
    on_its_way = ReplayAlone(message, timestamp_ms);
  } else if (fate.replay == Replay::kAloneNow && replays_.AdmitRestamp(SlotOf(message))) {
    on_its_way = ReplayAlone(message, NowMs());
  }
  if (on_its_way) kafka_metrics_.replayed->Increment();
  return on_its_way;
}

// Calls `produce` with the instance that sends batches of one, which is made when it is needed
// first; false if there is none. The lock keeps it alive meanwhile: Stop purges it later.
template <class ProduceFunction>
bool KafkaClient::WithAlone(ProduceFunction produce) {
  std::unique_ptr<KafkaHandle> unused;  // ends after the lock is gone
  std::unique_lock lock(others_mutex_);
  if (alone_ == nullptr && !closed_) {
    lock.unlock();
    auto made = MakeHandle(EntriesForSingleRecords(entries_, mode_, limits_.timeout));
    if (!made) {
      core::Log(core::LogLevel::kError, "kafka_producer_failed", made.error().message);
      return false;
    }
    lock.lock();
    (alone_ == nullptr && !closed_ ? alone_ : unused) = std::move(*made);
  }
  const bool produced =
      alone_ != nullptr && !closed_ && produce(*alone_) == RD_KAFKA_RESP_ERR_NO_ERROR;
  lock.unlock();
  return produced;
}

bool KafkaClient::ReplayAlone(const rd_kafka_message_t& message, std::int64_t timestamp_ms) {
  return WithAlone([&](KafkaHandle& alone) { return alone.ProduceAgain(message, timestamp_ms); });
}

bool KafkaClient::ReplayInNextGeneration(const rd_kafka_message_t& message) {
  const std::shared_lock lock(generation_mutex_);
  return current_ != nullptr &&
         current_->ProduceAgain(message, rd_kafka_message_timestamp(&message, nullptr)) ==
             RD_KAFKA_RESP_ERR_NO_ERROR;
}

bool KafkaClient::IsCurrent(const KafkaHandle& handle) const {
  const std::shared_lock lock(generation_mutex_);
  return current_.get() == &handle;
}

// Replaces a generation that broke for good; on its own thread, so that it happens once for each. A
// broken instance for single records is only retired: the next one is made when it is needed.
void KafkaClient::Renew(KafkaHandle& broken, const std::string& reason) {
  if (!IsCurrent(broken)) {
    const std::lock_guard lock(others_mutex_);
    if (alone_.get() == &broken) retired_.push_back(std::move(alone_));
    return;
  }
  const auto now = steady_clock::now();
  if (now - renewed_ < kRenewInterval) return;  // OnPolled comes back to it
  renewed_ = now;
  core::Log(core::LogLevel::kError, "kafka_producer_broken",
            "making a new Kafka producer: " + reason, {{"producer_type", type_}});
  auto made = MakeHandle(entries_);
  if (!made) {
    core::Log(core::LogLevel::kError, "kafka_producer_failed", made.error().message);
    return;
  }
  kafka_metrics_.generations->Increment();
  std::unique_ptr<KafkaHandle> old;
  {
    const std::unique_lock lock(generation_mutex_);
    if (stopping_) return;
    old = std::exchange(current_, std::move(*made));
    broken_.store(false, std::memory_order_release);
    const std::lock_guard topics(topics_mutex_);
    for (KafkaTopic* topic : topics_)
      topic->handles[static_cast<std::size_t>(mode_)] = current_->OpenTopic(*topic);
  }
  const std::lock_guard lock(others_mutex_);
  retired_.push_back(std::move(old));
}

rd_kafka_resp_err_t KafkaClient::EnqueueAlone(const Parked& one) {
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__DESTROY;  // there is no instance any more
  WithAlone(
      [&](KafkaHandle& alone) { return error = alone.Produce(*one.topic, one.record, one.slot); });
  return error;
}

void KafkaClient::ServeParked() {
  std::vector<Parked> parked;
  {
    const std::lock_guard lock(others_mutex_);
    parked.swap(parked_);
  }
  for (const Parked& one : parked) {
    const rd_kafka_resp_err_t error =
        one.company == Company::kAlone ? EnqueueAlone(one)
                                       : Enqueue(*one.topic, one.record, one.slot, Company::kBatch);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    room_.GiveBack(UseOf(*one.topic), SizeOf(one.record));
    const Fate fate = ClassifyReport(error, RD_KAFKA_MSG_STATUS_NOT_PERSISTED);
    const std::string text = DescribeFate(error, fate, one.topic->name());
    if (spill_ != nullptr && spill_->Take(one.topic->home_name, one.record, fate, text, one.slot))
      continue;
    if (mode_ == DeliveryMode::kHasty && error == RD_KAFKA_RESP_ERR__DESTROY)
      lost_.fetch_add(1, std::memory_order_relaxed);
    Refuse(*one.topic, one.record, one.slot, fate, text);
  }
}

// A retired generation ends when it has given everything back; on another one's thread.
void KafkaClient::DropDrained() {
  std::vector<std::unique_ptr<KafkaHandle>> drained;
  const std::lock_guard lock(others_mutex_);
  if (keep_retired_) return;
  for (auto at = retired_.begin(); at != retired_.end();) {
    if ((*at)->waiting() == 0) {
      drained.push_back(std::move(*at));
      at = retired_.erase(at);
    } else {
      ++at;
    }
  }
}

}  // namespace sluice::produce
