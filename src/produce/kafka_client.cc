#include "produce/kafka_client.h"

#include <algorithm>
#include <utility>

#include "core/log.h"

namespace sluice::produce {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongestProbe{100};
constexpr std::chrono::milliseconds kRenewInterval{1000};
constexpr std::chrono::milliseconds kPurgeTime{2000};  // after the deadline, for the last reports

std::string_view WordOf(DeliveryMode mode) {
  return mode == DeliveryMode::kGuaranteed ? "guaranteed" : "hasty";
}

std::uint64_t SizeOf(const Record& record) {
  return record.value.size() + (record.has_key ? record.key.size() : 0);
}

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

DeliverySlot* SlotOf(const rd_kafka_message_t& message) {
  return static_cast<DeliverySlot*>(message._private);
}

}  // namespace

KafkaClient::KafkaClient(DeliveryMode mode, std::vector<KafkaEntry> entries, core::Metrics& metrics)
    : mode_(mode),
      entries_(std::move(entries)),
      metrics_(metrics),
      kafka_metrics_(metrics, WordOf(mode)),
      trouble_(WordOf(mode)) {
  std::chrono::milliseconds message_timeout{0};
  if (const auto conf = MakeKafkaConf(entries_)) {  // Start tells what is wrong otherwise
    max_queued_bytes_ =
        static_cast<std::uint64_t>(KafkaNumber(**conf, "queue.buffering.max.kbytes")) * 1024;
    max_record_bytes_ = static_cast<std::uint64_t>(KafkaNumber(**conf, "message.max.bytes"));
    message_timeout = std::chrono::milliseconds(KafkaNumber(**conf, "message.timeout.ms"));
  }
  replays_ = std::make_unique<ReplayLedger>(mode_ == DeliveryMode::kGuaranteed ? message_timeout / 8
                                                                               : message_timeout);
}

KafkaClient::~KafkaClient() { Stop(steady_clock::now()); }

core::Result<std::unique_ptr<KafkaHandle>> KafkaClient::MakeHandle(
    std::vector<KafkaEntry> entries) {
  auto conf = MakeKafkaConf(entries);
  if (!conf) return conf.error();
  return KafkaHandle::Make(std::move(*conf), *this);
}

core::Result<void> KafkaClient::Start() {
  auto made = MakeHandle(entries_);
  if (!made) return made.error();
  kafka_metrics_.generations->Increment();
  const std::unique_lock lock(generation_mutex_);
  current_ = std::move(*made);
  const std::lock_guard topics(topics_mutex_);
  for (KafkaTopic* topic : topics_)
    topic->handles[static_cast<std::size_t>(mode_)] = current_->OpenTopic(topic->name());
  return {};
}

void KafkaClient::AddTopic(KafkaTopic& topic) {
  // Shared is enough: nobody produces to the topic yet, and the generation stays while it is held.
  const std::shared_lock lock(generation_mutex_);
  const std::lock_guard topics(topics_mutex_);
  topics_.push_back(&topic);
  if (current_ == nullptr) return;
  topic.handles[static_cast<std::size_t>(mode_)] = current_->OpenTopic(topic.name());
}

void KafkaClient::Refuse(DeliverySlot* slot, core::ErrorCode code, std::string_view message) {
  if (code == core::ErrorCode::kQueueFull) {
    kafka_metrics_.queue_full->Increment();
    core::Log(core::LogLevel::kWarn, "kafka_queue_full", "the queue to Kafka is full",
              {{"producer_type", WordOf(mode_)}});
  }
  metrics_.RecordsFailed(1);
  Delivery::CompleteFailed(slot, code, message);
}

// The queue of the present generation; RD_KAFKA_RESP_ERR__FATAL never comes back: such a record is
// parked until the next generation is there.
rd_kafka_resp_err_t KafkaClient::Enqueue(KafkaTopic& topic, const Record& record,
                                         DeliverySlot* slot) {
  const std::shared_lock lock(generation_mutex_);
  if (stopping_ || current_ == nullptr) return RD_KAFKA_RESP_ERR__DESTROY;
  rd_kafka_topic_t* handle = topic.handles[static_cast<std::size_t>(mode_)];
  if (handle == nullptr) return RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
  const rd_kafka_resp_err_t error = current_->Produce(handle, record, slot);
  if (error != RD_KAFKA_RESP_ERR__FATAL) return error;
  {
    const std::lock_guard others(others_mutex_);
    parked_.push_back({&topic, record, slot});
  }
  broken_.store(true, std::memory_order_release);
  current_->Wake();
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

void KafkaClient::Produce(KafkaTopic& topic, const Record& record, DeliverySlot* slot) {
  metrics_.RecordsHanded(1);
  const std::uint64_t bytes = SizeOf(record);
  if (bytes > max_record_bytes_) {
    return Refuse(slot, core::ErrorCode::kRecordTooLarge,
                  "the record has " + std::to_string(bytes) + " bytes, message.max.bytes is " +
                      std::to_string(max_record_bytes_));
  }
  // Also publishes what the caller wrote to the thread that will take the report.
  if (queued_bytes_.fetch_add(bytes, std::memory_order_acq_rel) + bytes > max_queued_bytes_) {
    queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return Refuse(slot, core::ErrorCode::kQueueFull, "the queue to Kafka is full");
  }
  const rd_kafka_resp_err_t error = Enqueue(topic, record, slot);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  const Fate fate = ClassifyReport(error, RD_KAFKA_MSG_STATUS_NOT_PERSISTED);
  if (fate.code == core::ErrorCode::kShuttingDown)
    return Refuse(slot, fate.code, "the service is shutting down");
  Refuse(slot, fate.code, DescribeFate(error, fate, topic.name()));
}

void KafkaClient::OnReports(KafkaHandle& handle, KafkaHandle::Reports reports) {
  // Pairs with the release in Produce.
  queued_bytes_.load(std::memory_order_acquire);
  std::vector<std::pair<const rd_kafka_message_t*, Fate>> failed;
  KafkaMetrics::Latencies latencies;
  std::uint64_t bytes = 0;
  std::uint64_t delivered = 0;
  for (const rd_kafka_message_t* message : reports) {
    const Fate fate = ClassifyReport(message->err, rd_kafka_message_status(message));
    if (fate.persistence == Persistence::kYes) {
      ++delivered;
      latencies.Add(rd_kafka_message_latency(message));
    } else {
      if (fate.persistence == Persistence::kPerhaps) kafka_metrics_.possibly_written->Increment();
      if (TryReplay(handle, *message, fate)) continue;
      failed.emplace_back(message, fate);
    }
    bytes += message->len + message->key_len;
  }
  queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  metrics_.RecordsDelivered(delivered);
  metrics_.RecordsFailed(failed.size());
  if (delivered > 0) {
    kafka_metrics_.Observe(latencies);
    trouble_.Clear();
  }
  // Nothing of a record may be touched after its slot is complete, and replayed ones are the next
  // generation's.
  auto next_failed = failed.begin();
  for (const rd_kafka_message_t* message : reports) {
    if (next_failed != failed.end() && next_failed->first == message) {
      CompleteFailed(*message, next_failed->second);
      ++next_failed;
    } else if (ClassifyReport(message->err, rd_kafka_message_status(message)).persistence ==
               Persistence::kYes) {
      replays_->Forget(SlotOf(*message));
      Delivery::CompleteDelivered(SlotOf(*message));
    }
  }
}

void KafkaClient::CompleteFailed(const rd_kafka_message_t& message, const Fate& fate) {
  const char* topic = rd_kafka_topic_name(message.rkt);
  const std::string text = DescribeFate(message.err, fate, topic);
  replays_->Forget(SlotOf(message));
  if (mode_ == DeliveryMode::kHasty) {
    // Nobody waits for this answer: the log is the only one to hear of it.
    if (phase_.load(std::memory_order_relaxed) != Phase::kServing)
      lost_.fetch_add(1, std::memory_order_relaxed);
    core::Log(core::LogLevel::kWarn, "hasty_record_failed", text, {{"topic", topic}});
  }
  Delivery::CompleteFailed(SlotOf(message), fate.code, text);
}

// True if the record is on its way again.
bool KafkaClient::TryReplay(KafkaHandle& handle, const rd_kafka_message_t& message,
                            const Fate& fate) {
  if (fate.replay == Replay::kNever || phase_.load(std::memory_order_relaxed) == Phase::kPurging)
    return false;
  if (fate.persistence == Persistence::kPerhaps && mode_ == DeliveryMode::kGuaranteed) return false;
  std::string reason;
  if (fate.replay == Replay::kNextGeneration && !handle.IsFatal(&reason)) return false;
  const auto now = steady_clock::now();
  const std::chrono::microseconds latency{
      std::max<std::int64_t>(rd_kafka_message_latency(&message), 0)};
  if (!replays_->Admit(SlotOf(message), now - latency, now)) return false;
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
  } else if (fate.replay == Replay::kAloneNow && replays_->AdmitRestamp(SlotOf(message))) {
    on_its_way = ReplayAlone(message, NowMs());
  }
  if (on_its_way) kafka_metrics_.replayed->Increment();
  return on_its_way;
}

bool KafkaClient::ReplayAlone(const rd_kafka_message_t& message, std::int64_t timestamp_ms) {
  std::unique_lock lock(others_mutex_);
  if (alone_ == nullptr) {
    lock.unlock();
    auto entries = entries_;
    entries.push_back({"default", "batch.num.messages", "1"});
    entries.push_back({"default", "queue.buffering.max.ms", "0"});
    auto made = MakeHandle(std::move(entries));
    if (!made) {
      core::Log(core::LogLevel::kError, "kafka_producer_failed", made.error().message);
      return false;
    }
    lock.lock();
    if (alone_ == nullptr) alone_ = std::move(*made);
  }
  return alone_->ProduceAgain(message, timestamp_ms) == RD_KAFKA_RESP_ERR_NO_ERROR;
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
            "making a new Kafka producer: " + reason, {{"producer_type", WordOf(mode_)}});
  auto made = MakeHandle(entries_);
  if (!made) {
    core::Log(core::LogLevel::kError, "kafka_producer_failed", made.error().message);
    return;
  }
  kafka_metrics_.generations->Increment();
  std::unique_ptr<KafkaHandle> old;
  {
    const std::unique_lock lock(generation_mutex_);
    if (stopping_) {
      old = std::move(*made);
    } else {
      old = std::exchange(current_, std::move(*made));
      broken_.store(false, std::memory_order_release);
      const std::lock_guard topics(topics_mutex_);
      for (KafkaTopic* topic : topics_)
        topic->handles[static_cast<std::size_t>(mode_)] = current_->OpenTopic(topic->name());
    }
  }
  const std::lock_guard lock(others_mutex_);
  retired_.push_back(std::move(old));
}

void KafkaClient::ServeParked() {
  std::vector<Parked> parked;
  {
    const std::lock_guard lock(others_mutex_);
    parked.swap(parked_);
  }
  for (const Parked& one : parked) {
    const rd_kafka_resp_err_t error = Enqueue(*one.topic, one.record, one.slot);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    queued_bytes_.fetch_sub(SizeOf(one.record), std::memory_order_relaxed);
    const Fate fate = ClassifyReport(error, RD_KAFKA_MSG_STATUS_NOT_PERSISTED);
    if (mode_ == DeliveryMode::kHasty && error == RD_KAFKA_RESP_ERR__DESTROY)
      lost_.fetch_add(1, std::memory_order_relaxed);
    Refuse(one.slot, fate.code, DescribeFate(error, fate, one.topic->name()));
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

void KafkaClient::OnPolled(KafkaHandle& handle) {
  if (!IsCurrent(handle)) return;
  kafka_metrics_.queued_bytes->Set(static_cast<double>(queued_bytes()));
  std::string reason;
  if (broken_.load(std::memory_order_acquire) && handle.IsFatal(&reason))
    return Renew(handle, reason);
  ServeParked();
  DropDrained();
  if (trouble_.AskAgain(steady_clock::now()) && handle.Probe(kLongestProbe)) trouble_.Clear();
}

void KafkaClient::OnError(KafkaHandle& handle, rd_kafka_resp_err_t error, const char* text) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__FATAL:
      if (IsCurrent(handle)) broken_.store(true, std::memory_order_release);
      return;
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
      trouble_.Set(std::string("all Kafka brokers are down: ") + text);
      return;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
      trouble_.Set(std::string("Kafka refuses the connection: ") + text);
      return;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
      return;  // one broker of several; librdkafka's own log line says the same
    default:
      core::Log(core::LogLevel::kWarn, "kafka_error", text, {{"producer_type", WordOf(mode_)}});
  }
}

void KafkaClient::OnStatistics(KafkaHandle& handle, const char* json) {
  if (IsCurrent(handle)) kafka_metrics_.TakeStatistics(json);
}

std::string KafkaClient::trouble() const {
  if (std::string text = trouble_.text(); !text.empty()) return text;
  if (queued_bytes() > max_queued_bytes_ / 10 * 9)
    return "the queue to Kafka is full (" + std::string(WordOf(mode_)) + ")";
  return {};
}

void KafkaClient::BreakGeneration(const char* reason) {
  const std::shared_lock lock(generation_mutex_);
  if (current_ != nullptr) current_->Break(reason);
}

std::vector<KafkaHandle*> KafkaClient::Handles() {
  std::vector<KafkaHandle*> handles;
  const std::lock_guard lock(others_mutex_);
  for (const auto& handle : retired_) handles.push_back(handle.get());
  handles.push_back(current_.get());
  if (alone_ != nullptr) handles.push_back(alone_.get());
  return handles;
}

std::uint64_t KafkaClient::Stop(steady_clock::time_point deadline) {
  {
    const std::unique_lock lock(generation_mutex_);
    if (current_ == nullptr) return 0;
    stopping_ = true;
  }
  {
    const std::lock_guard lock(others_mutex_);
    keep_retired_ = true;
  }
  phase_.store(Phase::kStopping, std::memory_order_release);
  // From here on current_ stays. A replay may still move a record to an instance that was flushed
  // already.
  bool empty = false;
  while (!empty) {
    empty = true;
    for (KafkaHandle* handle : Handles()) empty = handle->waiting() == 0 && empty;
    for (KafkaHandle* handle : Handles()) {
      if (!empty) handle->Flush(deadline);
    }
    if (steady_clock::now() >= deadline) break;
  }
  phase_.store(Phase::kPurging, std::memory_order_release);
  const auto end = std::max(deadline, steady_clock::now()) + kPurgeTime;
  for (KafkaHandle* handle : Handles()) {
    handle->Purge();
    handle->Flush(end);
  }
  for (KafkaHandle* handle : Handles()) {
    const int silent = handle->waiting();
    if (silent > 0 && mode_ == DeliveryMode::kHasty)
      lost_.fetch_add(static_cast<std::uint64_t>(silent), std::memory_order_relaxed);
  }
  std::vector<std::unique_ptr<KafkaHandle>> ended;
  {
    const std::unique_lock lock(generation_mutex_);
    const std::lock_guard others(others_mutex_);
    ended = std::move(retired_);
    ended.push_back(std::move(current_));
    ended.push_back(std::move(alone_));
  }
  ended.clear();
  ServeParked();
  return lost_.load();
}

}  // namespace sluice::produce
