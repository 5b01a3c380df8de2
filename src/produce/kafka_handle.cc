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
  rd_kafka_t* kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), text.data(), text.size());
  if (kafka == nullptr) {
    return core::Error{
        core::ErrorCode::kInternal,
        std::string("the Kafka producer cannot be made, check kafka.conf: ") + text.data()};
  }
  static_cast<void>(conf.release());  // rd_kafka_new took it
  return std::unique_ptr<KafkaHandle>(new KafkaHandle(kafka, sink));
}

KafkaHandle::KafkaHandle(rd_kafka_t* kafka, Sink& sink)
    : kafka_(kafka), queue_(rd_kafka_queue_get_main(kafka)), sink_(sink) {
  rd_kafka_set_log_queue(kafka_, queue_);
  thread_ = std::thread([this] { Run(); });
  ::pthread_setname_np(thread_.native_handle(), "sluice-kafka");
}

KafkaHandle::~KafkaHandle() {
  ending_.store(true, std::memory_order_release);
  rd_kafka_queue_yield(queue_);
  thread_.join();
  // All references must be gone before the instance, or its end waits for ever.
  for (rd_kafka_topic_t* topic : topics_) rd_kafka_topic_destroy(topic);
  rd_kafka_queue_destroy(queue_);
  rd_kafka_destroy(kafka_);
}

void KafkaHandle::Run() {
  while (!ending_.load(std::memory_order_acquire)) {
    if (rd_kafka_event_t* event = rd_kafka_queue_poll(queue_, kPollMs); event != nullptr) {
      Serve(event);
      rd_kafka_event_destroy(event);
    }
    sink_.OnPolled(*this);
  }
}

void KafkaHandle::Serve(rd_kafka_event_t* event) {
  switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_DR: {
      std::array<const rd_kafka_message_t*, 512> reports;
      for (;;) {
        const std::size_t n = rd_kafka_event_message_array(event, reports.data(), reports.size());
        if (n == 0) return;
        sink_.OnReports(*this, Reports(reports.data(), n));
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

rd_kafka_topic_t* KafkaHandle::OpenTopic(KafkaTopic& topic) {
  rd_kafka_topic_t* made = NewTopic(topic);
  if (made != nullptr) {
    const std::lock_guard lock(topics_mutex_);
    topics_.push_back(made);
  }
  return made;
}

rd_kafka_resp_err_t KafkaHandle::Produce(rd_kafka_topic_t* topic, const Record& record,
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
  const rd_kafka_resp_err_t error = Produce(made, record, slot);
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
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  const int ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3600000));
  return rd_kafka_flush(kafka_, ms) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

void KafkaHandle::Purge() {
  rd_kafka_purge(kafka_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

bool KafkaHandle::IsFatal(std::string* text) const {
  std::array<char, 512> buffer{};
  if (rd_kafka_fatal_error(kafka_, buffer.data(), buffer.size()) == RD_KAFKA_RESP_ERR_NO_ERROR)
    return false;
  *text = buffer.data();
  return true;
}

void KafkaHandle::ProbeTopic(rd_kafka_topic_t* topic, std::chrono::milliseconds longest) {
  const rd_kafka_metadata_t* metadata = nullptr;
  rd_kafka_metadata(kafka_, 0, topic, &metadata, static_cast<int>(longest.count()));
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
