#include "support/mock_kafka.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <stdexcept>

namespace sluice::test {
namespace {

constexpr std::int16_t kProduceApi = 0;

rd_kafka_t* NewClient(rd_kafka_type_t type, const std::string& bootstrap) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char text[512];
  if (!bootstrap.empty()) {
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), text, sizeof text);
    rd_kafka_conf_set(conf, "group.id", "test", text, sizeof text);
    rd_kafka_conf_set(conf, "auto.offset.reset", "earliest", text, sizeof text);
  }
  rd_kafka_conf_set(conf, "log_level", "0", text, sizeof text);
  rd_kafka_t* client = rd_kafka_new(type, conf, text, sizeof text);
  if (client == nullptr) throw std::runtime_error(text);
  return client;
}

}  // namespace

struct MockKafka::Impl {
  rd_kafka_t* owner = nullptr;
  rd_kafka_mock_cluster_t* cluster = nullptr;
};

MockKafka::MockKafka(int brokers) : impl_(std::make_unique<Impl>()) {
  impl_->owner = NewClient(RD_KAFKA_PRODUCER, "");
  impl_->cluster = rd_kafka_mock_cluster_new(impl_->owner, brokers);
}

MockKafka::~MockKafka() {
  rd_kafka_mock_cluster_destroy(impl_->cluster);
  rd_kafka_destroy(impl_->owner);
}

std::string MockKafka::bootstrap() const {
  return rd_kafka_mock_cluster_bootstraps(impl_->cluster);
}

void MockKafka::SetDown() { rd_kafka_mock_broker_set_down(impl_->cluster, -1); }

void MockKafka::SetUp() { rd_kafka_mock_broker_set_up(impl_->cluster, -1); }

void MockKafka::SetRoundTrip(std::chrono::milliseconds rtt) {
  rd_kafka_mock_broker_set_rtt(impl_->cluster, -1, static_cast<int>(rtt.count()));
}

void MockKafka::CreateTopic(const std::string& topic, int partitions) {
  rd_kafka_mock_topic_create(impl_->cluster, topic.c_str(), partitions, 1);
}

void MockKafka::SetTopicError(const std::string& topic, int kafka_code) {
  rd_kafka_mock_topic_set_error(impl_->cluster, topic.c_str(),
                                static_cast<rd_kafka_resp_err_t>(kafka_code));
}

void MockKafka::FailProduce(const std::vector<int>& kafka_codes) {
  std::vector<rd_kafka_resp_err_t> errors;
  for (int code : kafka_codes) errors.push_back(static_cast<rd_kafka_resp_err_t>(code));
  rd_kafka_mock_push_request_errors_array(impl_->cluster, kProduceApi, errors.size(),
                                          errors.data());
}

std::vector<MockKafka::Consumed> MockKafka::Consume(const std::string& topic, std::size_t count,
                                                    std::chrono::milliseconds longest) {
  rd_kafka_t* consumer = NewClient(RD_KAFKA_CONSUMER, bootstrap());
  rd_kafka_poll_set_consumer(consumer);
  const rd_kafka_metadata_t* metadata = nullptr;
  rd_kafka_topic_partition_list_t* partitions = rd_kafka_topic_partition_list_new(4);
  rd_kafka_topic_t* handle = rd_kafka_topic_new(consumer, topic.c_str(), nullptr);
  if (rd_kafka_metadata(consumer, 0, handle, &metadata, 10000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    for (int i = 0; i < metadata->topics[0].partition_cnt; ++i) {
      rd_kafka_topic_partition_list_add(partitions, topic.c_str(), i)->offset =
          RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_metadata_destroy(metadata);
  }
  rd_kafka_topic_destroy(handle);
  rd_kafka_assign(consumer, partitions);
  rd_kafka_topic_partition_list_destroy(partitions);
  std::vector<Consumed> records;
  const auto end = std::chrono::steady_clock::now() + longest;
  while (records.size() < count && std::chrono::steady_clock::now() < end) {
    rd_kafka_message_t* message = rd_kafka_consumer_poll(consumer, 100);
    if (message == nullptr) continue;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      Consumed record;
      record.value.assign(static_cast<const char*>(message->payload), message->len);
      if (message->key != nullptr)
        record.key.emplace(static_cast<const char*>(message->key), message->key_len);
      record.timestamp_ms = rd_kafka_message_timestamp(message, nullptr);
      records.push_back(std::move(record));
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
  return records;
}

}  // namespace sluice::test
