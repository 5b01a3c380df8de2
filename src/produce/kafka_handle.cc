#include "produce/kafka_handle.h"

#include <pthread.h>

#include <algorithm>
#include <array>

#include "core/log.h"

namespace sluice::produce {
namespace {

constexpr int kPollMs = 100;

// syslog's levels, as librdkafka uses them.
core::LogLevel LevelOf(int syslog_level) {
  if (syslog_level <= 3) return core::LogLevel::kError;
  if (syslog_level == 4) return core::LogLevel::kWarn;
  if (syslog_level <= 6) return core::LogLevel::kInfo;
  return core::LogLevel::kDebug;
}

void LogLine(const rd_kafka_t* kafka, rd_kafka_event_t* event) {
  const char* facility = "";
  const char* text = "";
  int level = 0;
  if (rd_kafka_event_log(event, &facility, &text, &level) != 0) return;
  core::Log(LevelOf(level), "kafka_client", text,
            {{"facility", facility}, {"client", rd_kafka_name(kafka)}});
}

}  // namespace

core::Result<std::unique_ptr<KafkaHandle>> KafkaHandle::Make(KafkaConfPtr conf, Sink& sink) {
  rd_kafka_conf_set_events(conf.get(), RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR |
                                           RD_KAFKA_EVENT_STATS | RD_KAFKA_EVENT_LOG);
  std::array<char, 512> text{};
  rd_kafka_conf_set(conf.get(), "log.queue", "true", nullptr, 0);
  KafkaWaves::Options waves;
  waves.linger = std::chrono::milliseconds(KafkaNumber(*conf, "queue.buffering.max.ms"));
  waves.batch_records = static_cast<std::uint64_t>(KafkaNumber(*conf, "batch.num.messages"));
  waves.batch_bytes = static_cast<std::uint64_t>(KafkaNumber(*conf, "batch.size"));
  rd_kafka_t* kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), text.data(), text.size());
  if (kafka == nullptr) {
    return core::Error{
        core::ErrorCode::kInternal,
        std::string("the Kafka producer cannot be made, check kafka.conf: ") + text.data()};
  }
  static_cast<void>(conf.release());  // rd_kafka_new took it
  return std::unique_ptr<KafkaHandle>(new KafkaHandle(kafka, waves, sink));
}

KafkaHandle::KafkaHandle(rd_kafka_t* kafka, const KafkaWaves::Options& waves, Sink& sink)
    : kafka_(kafka), queue_(rd_kafka_queue_get_main(kafka)), sink_(sink), waves_(waves) {
  rd_kafka_set_log_queue(kafka_, queue_);
  thread_ = std::thread([this] { Run(); });
  ::pthread_setname_np(thread_.native_handle(), "sluice-kafka");
}

KafkaHandle::~KafkaHandle() {
  ending_.store(true, std::memory_order_release);
  rd_kafka_queue_yield(queue_);
  thread_.join();
  // All references must be gone before the instance, or its end waits for ever.
  for (const auto& [rkt, topic] : topics_) rd_kafka_topic_destroy(topic->rkt);
  rd_kafka_queue_destroy(queue_);
  rd_kafka_destroy(kafka_);
}

void KafkaHandle::Run() {
  while (!ending_.load(std::memory_order_acquire)) {
    if (rd_kafka_event_t* event = rd_kafka_queue_poll(queue_, kPollMs); event != nullptr) {
      Serve(event);
      rd_kafka_event_destroy(event);
    }
    if (held_.load(std::memory_order_relaxed) > 0) EndLongHolds();
    sink_.OnPolled(*this);
  }
}

// What was refused is given back without a lock: the sink has locks of its own.
template <class Release>
void KafkaHandle::ReleaseAll(Release release) {
  std::vector<std::pair<KafkaTopic*, KafkaWaves::Refused>> given_back;
  {
    std::vector<KafkaWaves::Refused> refused;
    const std::lock_guard lock(topics_mutex_);
    for (const auto& [rkt, topic] : topics_) {
      release(topic->waves, refused);
      for (const KafkaWaves::Refused& one : refused) given_back.emplace_back(&topic->topic, one);
      refused.clear();
    }
  }
  for (const auto& [topic, one] : given_back) GiveBack(*topic, one);
}

void KafkaHandle::GiveBack(KafkaTopic& topic, const KafkaWaves::Refused& refused) {
  sink_.OnRefused(*this, topic, refused);
  waiting_.fetch_sub(1, std::memory_order_release);
}

void KafkaHandle::EndLongHolds() {
  const auto now = std::chrono::steady_clock::now();
  ReleaseAll([now](KafkaWaves& waves, std::vector<KafkaWaves::Refused>& refused) {
    waves.Tick(now, refused);
  });
}

void KafkaHandle::OpenWaves() {
  ReleaseAll(
      [](KafkaWaves& waves, std::vector<KafkaWaves::Refused>& refused) { waves.Open(refused); });
}

KafkaOpenTopic* KafkaHandle::FindOpen(const rd_kafka_topic_t* topic) {
  const std::lock_guard lock(topics_mutex_);
  const auto found = topics_.find(topic);
  return found == topics_.end() ? nullptr : found->second.get();
}

// Reports come in runs of one topic. What waits for them goes out before anything else is done.
void KafkaHandle::OnReports(Reports reports) {
  const auto now = std::chrono::steady_clock::now();
  std::vector<KafkaWaves::Refused> refused;
  for (std::size_t i = 0; i < reports.size();) {
    const rd_kafka_topic_t* rkt = reports[i]->rkt;
    const std::size_t first = i;
    while (i < reports.size() && reports[i]->rkt == rkt) ++i;
    KafkaOpenTopic* const topic = FindOpen(rkt);
    if (topic == nullptr) continue;
    topic->waves.OnReports(static_cast<std::uint32_t>(i - first), now, refused);
    for (const KafkaWaves::Refused& one : refused) GiveBack(topic->topic, one);
    refused.clear();
  }
  sink_.OnReports(*this, reports);
}

void KafkaHandle::Serve(rd_kafka_event_t* event) {
  switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_DR: {
      std::array<const rd_kafka_message_t*, 512> reports;
      for (;;) {
        const std::size_t n = rd_kafka_event_message_array(event, reports.data(), reports.size());
        if (n == 0) return;
        OnReports(Reports(reports.data(), n));
        waiting_.fetch_sub(static_cast<std::int64_t>(n), std::memory_order_release);
      }
    }
    case RD_KAFKA_EVENT_ERROR:
      return sink_.OnError(*this, rd_kafka_event_error(event), rd_kafka_event_error_string(event));
    case RD_KAFKA_EVENT_STATS:
      return sink_.OnStatistics(*this, rd_kafka_event_stats(event));
    case RD_KAFKA_EVENT_LOG:
      return LogLine(kafka_, event);
    default:
      return;
  }
}

rd_kafka_topic_t* KafkaHandle::NewTopic(KafkaTopic& topic) {
  rd_kafka_topic_conf_t* conf = rd_kafka_default_topic_conf_dup(kafka_);
  rd_kafka_topic_conf_set_opaque(conf, &topic);
  return rd_kafka_topic_new(kafka_, topic.name().c_str(), conf);
}

KafkaOpenTopic* KafkaHandle::OpenTopic(KafkaTopic& topic) {
  rd_kafka_topic_t* made = NewTopic(topic);
  if (made == nullptr) return nullptr;
  auto open = std::make_unique<KafkaOpenTopic>(
      topic, made, waves_, held_,
      [this, made](const Record& record, DeliverySlot* slot) { return Send(made, record, slot); });
  const std::lock_guard lock(topics_mutex_);
  return (topics_[made] = std::move(open)).get();
}

rd_kafka_resp_err_t KafkaHandle::Produce(KafkaOpenTopic& topic, const Record& record,
                                         DeliverySlot* slot) {
  waiting_.fetch_add(1, std::memory_order_relaxed);  // before: its report may come at once
  const rd_kafka_resp_err_t error =
      topic.waves.Produce(record, slot, std::chrono::steady_clock::now());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) waiting_.fetch_sub(1, std::memory_order_release);
  return error;
}

rd_kafka_resp_err_t KafkaHandle::Send(rd_kafka_topic_t* topic, const Record& record,
                                      DeliverySlot* slot) {
  // Without F_COPY the value is only read; librdkafka's signature is not const for F_FREE's sake.
  // Never F_BLOCK.
  void* const value = const_cast<char*>(record.value.data());
  void* const key = record.has_key ? const_cast<char*>(record.key.data()) : nullptr;
  const std::size_t key_size = record.has_key ? record.key.size() : 0;
  return rd_kafka_producev(
      kafka_, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
      RD_KAFKA_V_VALUE(value, record.value.size()), RD_KAFKA_V_KEY(key, key_size),
      RD_KAFKA_V_TIMESTAMP(std::max<std::int64_t>(record.timestamp_ms, 0)), RD_KAFKA_V_OPAQUE(slot),
      RD_KAFKA_V_END);
}

rd_kafka_resp_err_t KafkaHandle::Produce(KafkaTopic& topic, const Record& record,
                                         DeliverySlot* slot) {
  rd_kafka_topic_t* made = NewTopic(topic);
  if (made == nullptr) return rd_kafka_last_error();
  // librdkafka has one object for each name: its reports are counted where the topic is open.
  KafkaOpenTopic* const open = FindOpen(made);
  if (open != nullptr) open->waves.Count();
  waiting_.fetch_add(1, std::memory_order_relaxed);
  const rd_kafka_resp_err_t error = Send(made, record, slot);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    waiting_.fetch_sub(1, std::memory_order_release);
    if (open != nullptr) open->waves.Uncount();
  }
  rd_kafka_topic_destroy(made);  // the queued record holds it on its own account
  return error;
}

rd_kafka_resp_err_t KafkaHandle::ProduceAgain(const rd_kafka_message_t& message,
                                              std::int64_t timestamp_ms) {
  const Record record{.value = {static_cast<const char*>(message.payload), message.len},
                      .key = {static_cast<const char*>(message.key), message.key_len},
                      .has_key = message.key != nullptr,
                      .timestamp_ms = timestamp_ms};
  return Produce(TopicOf(message), record, static_cast<DeliverySlot*>(message._private));
}

bool KafkaHandle::Flush(std::chrono::steady_clock::time_point deadline) {
  OpenWaves();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  const int ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3600000));
  return rd_kafka_flush(kafka_, ms) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

void KafkaHandle::Purge() {
  OpenWaves();
  rd_kafka_purge(kafka_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

bool KafkaHandle::IsFatal(std::string* text) const {
  std::array<char, 512> buffer{};
  if (rd_kafka_fatal_error(kafka_, buffer.data(), buffer.size()) == RD_KAFKA_RESP_ERR_NO_ERROR)
    return false;
  *text = buffer.data();
  return true;
}

void KafkaHandle::ProbeTopic(const KafkaOpenTopic& topic, std::chrono::milliseconds longest) {
  const rd_kafka_metadata_t* metadata = nullptr;
  rd_kafka_metadata(kafka_, 0, topic.rkt, &metadata, static_cast<int>(longest.count()));
  if (metadata != nullptr) rd_kafka_metadata_destroy(metadata);
}

bool KafkaHandle::Probe(std::chrono::milliseconds longest) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(kafka_, 0, nullptr, &metadata, static_cast<int>(longest.count()));
  if (metadata != nullptr) rd_kafka_metadata_destroy(metadata);
  return error == RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace sluice::produce
