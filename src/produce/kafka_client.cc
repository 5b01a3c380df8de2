#include "produce/kafka_client.h"

#include <algorithm>
#include <utility>

#include "core/log.h"

namespace sluice::produce {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongestProbe{100};
constexpr std::chrono::milliseconds kPurgeTime{2000};  // after the deadline, for the last reports

DeliverySlot* SlotOf(const rd_kafka_message_t& message) {
  return static_cast<DeliverySlot*>(message._private);
}

}  // namespace

KafkaClient::Limits KafkaClient::LimitsOf(const std::vector<KafkaEntry>& entries) {
  Limits limits;
  const auto conf = MakeKafkaConf(entries);
  if (!conf) return limits;  // Start tells what is wrong
  limits.queue_bytes =
      static_cast<std::uint64_t>(KafkaNumber(**conf, "queue.buffering.max.kbytes")) * 1024;
  limits.record_bytes = static_cast<std::uint64_t>(KafkaNumber(**conf, "message.max.bytes"));
  limits.timeout = std::chrono::milliseconds(KafkaNumber(**conf, "message.timeout.ms"));
  limits.compressed = KafkaText(**conf, "compression.codec") != "none";
  return limits;
}

KafkaClient::KafkaClient(DeliveryMode mode, std::vector<KafkaEntry> entries,
                         const core::KafkaAdmitOptions& admit, KafkaTopics& topics,
                         core::Metrics& metrics, KafkaTarget target)
    : mode_(mode),
      type_(WordOf(mode, target)),
      entries_(std::move(entries)),
      limits_(LimitsOf(entries_)),
      known_topics_(topics),
      metrics_(metrics),
      kafka_metrics_(metrics, type_),
      trouble_(type_),
      room_({.bound = limits_.queue_bytes,
             .admit_percent = mode == DeliveryMode::kGuaranteed ? admit.guaranteed : admit.hasty,
             .topic_share_percent = admit.topic_share}),
      replays_(mode == DeliveryMode::kGuaranteed ? limits_.timeout / 8 : limits_.timeout) {}

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
    topic->handles[static_cast<std::size_t>(mode_)] = current_->OpenTopic(*topic);
  return {};
}

void KafkaClient::AddTopic(KafkaTopic& topic) {
  // Shared is enough: nobody produces to the topic yet, and the generation stays while it is held.
  const std::shared_lock lock(generation_mutex_);
  const std::lock_guard topics(topics_mutex_);
  topics_.push_back(&topic);
  if (current_ == nullptr) return;
  topic.handles[static_cast<std::size_t>(mode_)] = current_->OpenTopic(topic);
}

std::string_view KafkaClient::WordOf(DeliveryMode mode, KafkaTarget target) {
  if (target == KafkaTarget::kFallback)
    return mode == DeliveryMode::kGuaranteed ? "guaranteed-fallback" : "hasty-fallback";
  return mode == DeliveryMode::kGuaranteed ? "guaranteed" : "hasty";
}

void KafkaClient::Refuse(const KafkaTopic& topic, const Record& record, DeliverySlot* slot,
                         const Fate& fate, std::string_view message) {
  if (fate.code == core::ErrorCode::kQueueFull) {
    kafka_metrics_.queue_full->Increment();
    core::Log(core::LogLevel::kWarn, "kafka_queue_full", message, {{"producer_type", type_}});
  }
  if (spill_ != nullptr && spill_->Take(topic.home_name, record, fate, message, slot)) return;
  metrics_.RecordsFailed(1);
  Delivery::CompleteFailed(slot, fate.code, message);
}

// True if the record went to the spool without waiting for Kafka, which takes nothing now.
bool KafkaClient::Divert(const KafkaTopic& topic, const Record& record, DeliverySlot* slot) {
  if (spill_ == nullptr) return false;
  const auto reach = trouble_.bad() ? KafkaSpill::Reach::kOutOfReach : KafkaSpill::Reach::kUnknown;
  return spill_->Stalled(queued_bytes(), reach) &&
         spill_->Take(topic.home_name, record,
                      {Persistence::kNo, core::ErrorCode::kDeliveryTimeout},
                      "Kafka is out of reach", slot);
}

// True if the spool has the record of a report.
bool KafkaClient::Spill(const rd_kafka_message_t& message, const Fate& fate) {
  if (spill_ == nullptr) return false;
  const char* topic = rd_kafka_topic_name(message.rkt);
  const Record record{.value = {static_cast<const char*>(message.payload), message.len},
                      .key = {static_cast<const char*>(message.key), message.key_len},
                      .has_key = message.key != nullptr,
                      .timestamp_ms = rd_kafka_message_timestamp(&message, nullptr)};
  replays_.Forget(SlotOf(message));  // afterwards the slot may be gone
  return spill_->Take(KafkaHandle::TopicOf(message).home_name, record, fate,
                      DescribeFate(message.err, fate, topic), SlotOf(message));
}

// The queue of the present generation; RD_KAFKA_RESP_ERR__FATAL never comes back: such a record is
// parked until the next generation is there. So is one that must not share a batch.
rd_kafka_resp_err_t KafkaClient::Enqueue(KafkaTopic& topic, const Record& record,
                                         DeliverySlot* slot, Company company) {
  const std::shared_lock lock(generation_mutex_);
  if (stopping_ || current_ == nullptr) return RD_KAFKA_RESP_ERR__DESTROY;
  KafkaOpenTopic* const handle = topic.handles[static_cast<std::size_t>(mode_)];
  if (handle == nullptr) return RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
  if (company == Company::kBatch) {
    const rd_kafka_resp_err_t error = current_->Produce(*handle, record, slot);
    if (error != RD_KAFKA_RESP_ERR__FATAL) return error;
    broken_.store(true, std::memory_order_release);
  }
  {
    const std::lock_guard others(others_mutex_);
    parked_.push_back({&topic, record, slot, company});
  }
  current_->Wake();
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

// Why the record cannot go to its topic, as far as is known.
std::optional<core::Error> KafkaClient::Objection(const KafkaTopic& topic, const Record& record,
                                                  Company* company) const {
  if (topic.presence.load(std::memory_order_relaxed) == TopicPresence::kAbsent)
    return core::Error{core::ErrorCode::kTopicUnknown, known_topics_.WhyAbsent(topic)};
  const std::uint64_t bytes = SizeOf(record);
  if (bytes > limits_.record_bytes) {
    return core::Error{core::ErrorCode::kRecordTooLarge, "the record has " + std::to_string(bytes) +
                                                             " bytes, message.max.bytes is " +
                                                             std::to_string(limits_.record_bytes)};
  }
  const std::uint64_t limit = topic.max_batch_bytes.load(std::memory_order_relaxed);
  if (limit == 0 || bytes + kMaxBatchOverhead <= limit || BatchBytes(record) <= limit) return {};
  if (limits_.compressed) {  // it may fit once it is smaller, and must not cost its neighbours
    *company = Company::kAlone;
    return {};
  }
  return core::Error{core::ErrorCode::kRecordTooLarge,
                     "the record takes " + std::to_string(BatchBytes(record)) +
                         " bytes in Kafka, max.message.bytes of topic " + topic.name() + " is " +
                         std::to_string(limit)};
}

void KafkaClient::Produce(KafkaTopic& topic, const Record& record, DeliverySlot* slot) {
  metrics_.RecordsHanded(1);
  Company company = Company::kBatch;
  if (const auto objection = Objection(topic, record, &company)) {
    if (objection->code == core::ErrorCode::kTopicUnknown) known_topics_.AskAgain();
    metrics_.RecordsFailed(1);  // for good: the spool could not do better
    return Delivery::CompleteFailed(slot, objection->code, objection->message);
  }
  if (Divert(topic, record, slot)) return;
  const Fate full{Persistence::kNo, core::ErrorCode::kQueueFull};
  switch (room_.Take(UseOf(topic), SizeOf(record))) {
    case KafkaRoom::Answer::kTaken:
      break;
    case KafkaRoom::Answer::kFull:
      return Refuse(topic, record, slot, full, "the queue to Kafka is full");
    case KafkaRoom::Answer::kShareUsed:
      return Refuse(topic, record, slot, full,
                    "topic " + topic.name() +
                        " has as much of the queue to Kafka as one topic may (kafka.admit.*)");
  }
  const rd_kafka_resp_err_t error = Enqueue(topic, record, slot, company);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  room_.GiveBack(UseOf(topic), SizeOf(record));
  const Fate fate = ClassifyReport(error, RD_KAFKA_MSG_STATUS_NOT_PERSISTED);
  if (fate.code == core::ErrorCode::kTopicUnknown) known_topics_.AskAgain();
  if (fate.code == core::ErrorCode::kShuttingDown)
    return Refuse(topic, record, slot, fate, "the service is shutting down");
  Refuse(topic, record, slot, fate, DescribeFate(error, fate, topic.name()));
}

// Reports come in runs of one topic.
void KafkaClient::FreeRoom(KafkaHandle::Reports ended) {
  for (std::size_t i = 0; i < ended.size();) {
    const rd_kafka_topic_t* topic = ended[i]->rkt;
    KafkaRoom::Bytes& use = UseOf(KafkaHandle::TopicOf(*ended[i]));
    std::uint64_t bytes = 0;
    for (; i < ended.size() && ended[i]->rkt == topic; ++i) bytes += SizeOf(*ended[i]);
    room_.GiveBack(use, bytes);
  }
}

void KafkaClient::OnReports(KafkaHandle& handle, KafkaHandle::Reports reports) {
  room_.AcquireRecords();
  std::vector<const rd_kafka_message_t*> ended;  // in the order of the reports; not the replayed
  std::vector<std::pair<const rd_kafka_message_t*, Fate>> failed;
  KafkaMetrics::Latencies latencies;
  std::uint64_t delivered_bytes = 0;
  ended.reserve(reports.size());
  for (const rd_kafka_message_t* message : reports) {
    const Fate fate = ClassifyReport(message->err, rd_kafka_message_status(message));
    if (fate.persistence == Persistence::kYes) {
      delivered_bytes += SizeOf(*message);
      latencies.Add(rd_kafka_message_latency(message));
    } else {
      if (fate.persistence == Persistence::kPerhaps) kafka_metrics_.possibly_written->Increment();
      if (fate.code == core::ErrorCode::kTopicUnknown ||
          fate.code == core::ErrorCode::kRecordTooLarge)
        known_topics_.AskAgain();
      if (TryReplay(handle, *message, fate)) continue;
      failed.emplace_back(message, fate);
    }
    ended.push_back(message);
  }
  FreeRoom(ended);
  room_.Delivered(delivered_bytes);
  metrics_.RecordsDelivered(ended.size() - failed.size());
  if (ended.size() > failed.size()) {
    if (spill_ != nullptr) spill_->Delivered();
    kafka_metrics_.Observe(latencies);
    kafka_metrics_.delivered->Increment(static_cast<double>(ended.size() - failed.size()));
    trouble_.Clear();
  }
  // Nothing of a record may be touched after its slot is complete, and replayed ones are the next
  // generation's.
  auto next_failed = failed.begin();
  for (const rd_kafka_message_t* message : ended) {
    if (next_failed != failed.end() && next_failed->first == message) {
      if (!Spill(*message, next_failed->second)) CompleteFailed(*message, next_failed->second);
      ++next_failed;
    } else {
      replays_.Forget(SlotOf(*message));
      Delivery::CompleteDelivered(SlotOf(*message), Durability::kKafka);
    }
  }
}

// It was let in when it came, so it gets another try, whatever the reason was.
void KafkaClient::OnRefused(KafkaHandle& handle, KafkaTopic& topic,
                            const KafkaWaves::Refused& refused) {
  if (refused.error == RD_KAFKA_RESP_ERR__FATAL && IsCurrent(handle))
    broken_.store(true, std::memory_order_release);
  const std::lock_guard lock(others_mutex_);
  parked_.push_back({&topic, refused.record, refused.slot, Company::kBatch});
}

void KafkaClient::CompleteFailed(const rd_kafka_message_t& message, const Fate& fate) {
  const char* topic = rd_kafka_topic_name(message.rkt);
  const std::string text = DescribeFate(message.err, fate, topic);
  replays_.Forget(SlotOf(message));
  if (mode_ == DeliveryMode::kHasty) {
    // Nobody waits for this answer: the log is the only one to hear of it.
    if (phase_.load(std::memory_order_relaxed) != Phase::kServing)
      lost_.fetch_add(1, std::memory_order_relaxed);
    core::Log(core::LogLevel::kWarn, "hasty_record_failed", text, {{"topic", topic}});
  }
  metrics_.RecordsFailed(1);
  Delivery::CompleteFailed(SlotOf(message), fate.code, text);
}

void KafkaClient::OnPolled(KafkaHandle& handle) {
  if (!IsCurrent(handle)) return;
  polled_.Beat();
  kafka_metrics_.queued_bytes->Set(static_cast<double>(queued_bytes()));
  room_.Measure(steady_clock::now());
  std::string reason;
  if (broken_.load(std::memory_order_acquire) && handle.IsFatal(&reason))
    return Renew(handle, reason);
  ServeParked();
  DropDrained();
  ProbeTopics(handle);
  if (trouble_.AskAgain(steady_clock::now()) && handle.Probe(kLongestProbe)) trouble_.Clear();
}

void KafkaClient::RefreshTopic(KafkaTopic& topic) {
  const std::shared_lock lock(generation_mutex_);
  if (current_ == nullptr) return;
  {
    const std::lock_guard others(others_mutex_);
    appeared_.push_back(&topic);
  }
  current_->Wake();
}

void KafkaClient::ProbeTopics(KafkaHandle& handle) {
  std::vector<KafkaTopic*> appeared;
  {
    const std::lock_guard others(others_mutex_);
    appeared.swap(appeared_);
  }
  for (const KafkaTopic* topic : appeared) {
    const KafkaOpenTopic* opened = topic->handles[static_cast<std::size_t>(mode_)];
    if (opened != nullptr) handle.ProbeTopic(*opened, kLongestProbe);
  }
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
      core::Log(core::LogLevel::kWarn, "kafka_error", text, {{"producer_type", type_}});
  }
}

void KafkaClient::OnStatistics(KafkaHandle& handle, const char* json) {
  if (IsCurrent(handle)) kafka_metrics_.TakeStatistics(json);
}

std::string KafkaClient::trouble() const {
  if (std::string text = trouble_.text(); !text.empty()) return text;
  if (room_.IsFull()) return "the queue to Kafka is full (" + std::string(type_) + ")";
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
    ServeParked();
    empty = true;
    for (KafkaHandle* handle : Handles()) empty = handle->waiting() == 0 && empty;
    for (KafkaHandle* handle : Handles()) {
      if (!empty) handle->Flush(deadline);
    }
    if (steady_clock::now() >= deadline) break;
  }
  {
    // No record moves to an instance, and none is made, that nobody would purge.
    const std::unique_lock replays(replay_mutex_);
    const std::lock_guard lock(others_mutex_);
    phase_.store(Phase::kPurging, std::memory_order_release);
    closed_ = true;
  }
  const auto end = std::max(deadline, steady_clock::now()) + kPurgeTime;
  for (KafkaHandle* handle : Handles()) {
    handle->Purge();
    handle->Flush(end);
  }
  for (KafkaHandle* handle : Handles()) {
    const std::int64_t silent = handle->waiting();
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
