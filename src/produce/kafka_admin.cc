#include "produce/kafka_admin.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/free_with.h"

namespace sluice::produce {
namespace {

constexpr std::size_t kTopicsOfOneQuestion = 200;
constexpr KafkaAdmin::Timeout kLate{1000};  // librdkafka's own answer "timed out" comes later

using TopicPtr = std::unique_ptr<rd_kafka_topic_t, core::FreeWith<rd_kafka_topic_destroy>>;
using QueuePtr = std::unique_ptr<rd_kafka_queue_t, core::FreeWith<rd_kafka_queue_destroy>>;
using EventPtr = std::unique_ptr<rd_kafka_event_t, core::FreeWith<rd_kafka_event_destroy>>;
using OptionsPtr =
    std::unique_ptr<rd_kafka_AdminOptions_t, core::FreeWith<rd_kafka_AdminOptions_destroy>>;
using ResourcePtr =
    std::unique_ptr<rd_kafka_ConfigResource_t, core::FreeWith<rd_kafka_ConfigResource_destroy>>;
using NewTopicPtr = std::unique_ptr<rd_kafka_NewTopic_t, core::FreeWith<rd_kafka_NewTopic_destroy>>;

core::Error ErrorOf(std::string text) {
  return {core::ErrorCode::kDeliveryFailed, std::move(text)};
}

OptionsPtr OptionsFor(rd_kafka_t* kafka, rd_kafka_admin_op_t operation,
                      KafkaAdmin::Timeout timeout) {
  OptionsPtr options(rd_kafka_AdminOptions_new(kafka, operation));
  std::array<char, 256> text{};
  rd_kafka_AdminOptions_set_request_timeout(options.get(), static_cast<int>(timeout.count()),
                                            text.data(), text.size());
  return options;
}

EventPtr Await(rd_kafka_queue_t* queue, KafkaAdmin::Timeout timeout) {
  return EventPtr(rd_kafka_queue_poll(queue, static_cast<int>((timeout + kLate).count())));
}

// Why the question as a whole has no answer; empty if it has.
std::string ProblemOf(rd_kafka_event_t* event) {
  if (event == nullptr) return "no answer";
  if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return rd_kafka_event_error_string(event);
}

KafkaAdmin::Settings SettingsOf(const rd_kafka_ConfigResource_t& resource) {
  KafkaAdmin::Settings settings;
  std::size_t count = 0;
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(&resource, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value != nullptr) settings[rd_kafka_ConfigEntry_name(entries[i])] = value;
  }
  return settings;
}

KafkaAdmin::TopicFacts FactsOf(const rd_kafka_metadata_topic_t& topic) {
  KafkaAdmin::TopicFacts facts;
  if (topic.err != RD_KAFKA_RESP_ERR_NO_ERROR) facts.error = rd_kafka_err2str(topic.err);
  for (int i = 0; i < topic.partition_cnt; ++i) {
    const rd_kafka_metadata_partition_t& partition = topic.partitions[i];
    facts.partitions.push_back(
        {partition.id, partition.leader >= 0, partition.replica_cnt, partition.isr_cnt});
  }
  return facts;
}

}  // namespace

core::Result<std::unique_ptr<KafkaAdmin>> KafkaAdmin::Make(const std::vector<KafkaEntry>& entries) {
  auto conf = MakeKafkaConf(entries);
  if (!conf) return conf.error();
  std::array<char, 512> text{};
  for (const auto& [name, value] :
       {std::pair("log_level", "0"), std::pair("statistics.interval.ms", "0"),
        std::pair("enable.idempotence", "false"), std::pair("allow.auto.create.topics", "false")})
    rd_kafka_conf_set(conf->get(), name, value, text.data(), text.size());
  rd_kafka_t* kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf->get(), text.data(), text.size());
  if (kafka == nullptr) return ErrorOf(text.data());
  static_cast<void>(conf->release());  // rd_kafka_new took it
  return std::unique_ptr<KafkaAdmin>(new KafkaAdmin(kafka));
}

KafkaAdmin::~KafkaAdmin() { rd_kafka_destroy(kafka_); }

bool KafkaAdmin::Reach(Timeout timeout) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(kafka_, 0, nullptr, &metadata, static_cast<int>(timeout.count()));
  if (metadata != nullptr) rd_kafka_metadata_destroy(metadata);
  return error == RD_KAFKA_RESP_ERR_NO_ERROR;
}

core::Result<KafkaAdmin::Cluster> KafkaAdmin::Look(Timeout timeout) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(kafka_, 1, nullptr, &metadata, static_cast<int>(timeout.count()));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return ErrorOf(rd_kafka_err2str(error));
  Cluster cluster;
  for (int i = 0; i < metadata->broker_cnt; ++i) {
    const rd_kafka_metadata_broker_t& broker = metadata->brokers[i];
    cluster.brokers.push_back(
        {broker.id, std::string(broker.host) + ':' + std::to_string(broker.port)});
  }
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& topic = metadata->topics[i];
    if (topic.err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)  // one that is being deleted
      cluster.topics.emplace(topic.topic, FactsOf(topic));
  }
  rd_kafka_metadata_destroy(metadata);
  return cluster;
}

std::string KafkaAdmin::ObjectionTo(const std::string& topic, Timeout timeout) {
  const TopicPtr opened(rd_kafka_topic_new(kafka_, topic.c_str(), nullptr));
  if (opened == nullptr) return rd_kafka_err2str(rd_kafka_last_error());
  const rd_kafka_metadata_t* metadata = nullptr;
  rd_kafka_resp_err_t error =
      rd_kafka_metadata(kafka_, 0, opened.get(), &metadata, static_cast<int>(timeout.count()));
  if (metadata != nullptr) {
    if (metadata->topic_cnt == 1) error = metadata->topics[0].err;
    rd_kafka_metadata_destroy(metadata);
  }
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : rd_kafka_err2str(error);
}

std::vector<core::Result<KafkaAdmin::Settings>> KafkaAdmin::Describe(
    Resource resource, const std::vector<std::string>& names, Timeout timeout) {
  std::vector<core::Result<Settings>> all;
  for (std::size_t i = 0; i < names.size(); i += kTopicsOfOneQuestion) {
    const std::size_t end = std::min(names.size(), i + kTopicsOfOneQuestion);
    auto some = DescribeSome(resource,
                             {names.begin() + static_cast<std::ptrdiff_t>(i),
                              names.begin() + static_cast<std::ptrdiff_t>(end)},
                             timeout);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<core::Result<KafkaAdmin::Settings>> KafkaAdmin::DescribeSome(
    Resource resource, const std::vector<std::string>& names, Timeout timeout) {
  const auto type =
      resource == Resource::kTopic ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_BROKER;
  std::vector<ResourcePtr> owned;
  std::vector<rd_kafka_ConfigResource_t*> wanted;
  wanted.reserve(names.size());
  for (const std::string& name : names)
    wanted.push_back(owned.emplace_back(rd_kafka_ConfigResource_new(type, name.c_str())).get());
  const OptionsPtr options = OptionsFor(kafka_, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout);
  const QueuePtr queue(rd_kafka_queue_new(kafka_));
  rd_kafka_DescribeConfigs(kafka_, wanted.data(), wanted.size(), options.get(), queue.get());
  const EventPtr event = Await(queue.get(), timeout);
  const std::string problem = ProblemOf(event.get());
  std::vector<core::Result<Settings>> results(
      names.size(), ErrorOf(problem.empty() ? "not in the answer" : problem));
  if (!problem.empty()) return results;
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t** answered = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(event.get()), &count);
  for (const rd_kafka_ConfigResource_t* one : std::span(answered, count)) {
    const auto at = std::find(names.begin(), names.end(), rd_kafka_ConfigResource_name(one));
    if (at == names.end()) continue;
    auto& result = results[static_cast<std::size_t>(at - names.begin())];
    const rd_kafka_resp_err_t error = rd_kafka_ConfigResource_error(one);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      result = SettingsOf(*one);
    } else {
      result = ErrorOf(rd_kafka_err2str(error));
    }
  }
  return results;
}

std::vector<core::Result<void>> KafkaAdmin::Create(const std::vector<NewTopic>& topics,
                                                   Timeout timeout) {
  std::vector<core::Result<void>> results(topics.size(), ErrorOf("not in the answer"));
  std::vector<NewTopicPtr> owned;
  std::vector<rd_kafka_NewTopic_t*> wanted;
  for (std::size_t i = 0; i < topics.size(); ++i) {
    const NewTopic& topic = topics[i];
    std::array<char, 256> text{};
    NewTopicPtr made(rd_kafka_NewTopic_new(
        topic.name.c_str(), topic.partitions > 0 ? topic.partitions : -1,
        topic.replication > 0 ? topic.replication : -1, text.data(), text.size()));
    if (made == nullptr) {
      results[i] = ErrorOf(text.data());
      continue;
    }
    for (const auto& [name, value] : topic.config)
      rd_kafka_NewTopic_set_config(made.get(), name.c_str(), value.c_str());
    wanted.push_back(owned.emplace_back(std::move(made)).get());
  }
  if (wanted.empty()) return results;
  const OptionsPtr options = OptionsFor(kafka_, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout);
  const QueuePtr queue(rd_kafka_queue_new(kafka_));
  rd_kafka_CreateTopics(kafka_, wanted.data(), wanted.size(), options.get(), queue.get());
  const EventPtr event = Await(queue.get(), timeout);
  if (const std::string problem = ProblemOf(event.get()); !problem.empty()) {
    std::fill(results.begin(), results.end(), ErrorOf(problem));
    return results;
  }
  std::size_t count = 0;
  const rd_kafka_topic_result_t** answered =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  for (const rd_kafka_topic_result_t* one : std::span(answered, count)) {
    const auto at = std::find_if(topics.begin(), topics.end(), [&](const NewTopic& topic) {
      return topic.name == rd_kafka_topic_result_name(one);
    });
    if (at == topics.end()) continue;
    auto& result = results[static_cast<std::size_t>(at - topics.begin())];
    const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(one);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
      result = core::Result<void>();
    } else {
      const char* text = rd_kafka_topic_result_error_string(one);
      result = ErrorOf(text != nullptr ? text : rd_kafka_err2str(error));
    }
  }
  return results;
}

}  // namespace sluice::produce
