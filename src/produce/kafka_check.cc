#include "produce/kafka_check.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "produce/kafka_conf.h"

namespace sluice::produce {
namespace {

using Verdict = KafkaFinding::Verdict;

template <auto kDestroy>
struct Destroyer {
  template <class T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};
using ClientPtr = std::unique_ptr<rd_kafka_t, Destroyer<rd_kafka_destroy>>;
using QueuePtr = std::unique_ptr<rd_kafka_queue_t, Destroyer<rd_kafka_queue_destroy>>;
using EventPtr = std::unique_ptr<rd_kafka_event_t, Destroyer<rd_kafka_event_destroy>>;
using MetadataPtr =
    std::unique_ptr<const rd_kafka_metadata_t, Destroyer<rd_kafka_metadata_destroy>>;
using ResourcePtr =
    std::unique_ptr<rd_kafka_ConfigResource_t, Destroyer<rd_kafka_ConfigResource_destroy>>;

using Settings = std::map<std::string, std::string>;

class Check {
 public:
  Check(const core::KafkaOptions& options, std::chrono::milliseconds timeout)
      : options_(options), timeout_ms_(static_cast<int>(timeout.count())) {}

  std::vector<KafkaFinding> Run(const std::vector<std::string>& topics) {
    if (!Connect()) return std::move(findings_);
    LookAtBrokers();
    for (const std::string& topic : topics) LookAtTopic(topic);
    return std::move(findings_);
  }

 private:
  void Say(Verdict verdict, std::string text) { findings_.push_back({verdict, std::move(text)}); }

  bool Connect() {
    auto conf = MakeKafkaConf(MergeKafkaEntries(options_, DeliveryMode::kGuaranteed, "sluice"));
    if (!conf) {
      Say(Verdict::kProblem, conf.error().message);
      return false;
    }
    max_record_bytes_ = KafkaNumber(**conf, "message.max.bytes");
    batch_bytes_ = KafkaNumber(**conf, "batch.size");
    // Its own log would repeat what the findings say.
    rd_kafka_conf_set(conf->get(), "log_level", "0", nullptr, 0);
    std::array<char, 512> text{};
    client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf->get(), text.data(), text.size()));
    if (client_ == nullptr) {
      Say(Verdict::kProblem, text.data());
      return false;
    }
    static_cast<void>(conf->release());
    const rd_kafka_metadata_t* metadata = nullptr;
    const auto error = rd_kafka_metadata(client_.get(), 1, nullptr, &metadata, timeout_ms_);
    metadata_.reset(metadata);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
    Say(Verdict::kProblem, std::string("no broker answers (") + rd_kafka_err2str(error) +
                               "): check metadata.broker.list, the network and security.protocol");
    return false;
  }

  void LookAtBrokers() {
    std::string brokers;
    for (int i = 0; i < metadata_->broker_cnt; ++i) {
      const auto& broker = metadata_->brokers[i];
      brokers += (brokers.empty() ? "" : ", ") + std::string(broker.host) + ":" +
                 std::to_string(broker.port);
    }
    Say(Verdict::kGood, "brokers: " + brokers);
    if (metadata_->broker_cnt == 0) return;
    const auto settings =
        Describe(RD_KAFKA_RESOURCE_BROKER, std::to_string(metadata_->brokers[0].id));
    if (!settings) return;
    const auto at = settings->find("auto.create.topics.enable");
    if (at == settings->end()) return;
    auto_create_ = at->second == "true";
    Say(Verdict::kGood, std::string("topics are ") + (*auto_create_ ? "" : "not ") +
                            "created on first use (auto.create.topics.enable)");
  }

  void LookAtTopic(const std::string& name) {
    const rd_kafka_metadata_topic_t* topic = nullptr;
    for (int i = 0; i < metadata_->topic_cnt; ++i) {
      if (name == metadata_->topics[i].topic) topic = &metadata_->topics[i];
    }
    if (topic == nullptr) return SayMissing(name);
    if (topic->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return Say(Verdict::kProblem, name + ": " + rd_kafka_err2str(topic->err));
    }
    int replicas = topic->partition_cnt > 0 ? topic->partitions[0].replica_cnt : 0;
    for (int i = 0; i < topic->partition_cnt; ++i) {
      const auto& partition = topic->partitions[i];
      const std::string place = name + ", partition " + std::to_string(partition.id) + ": ";
      replicas = std::min(replicas, partition.replica_cnt);
      if (partition.leader < 0) {
        Say(Verdict::kProblem, place + "no leader, its records time out: start its brokers");
      } else if (partition.isr_cnt < partition.replica_cnt) {
        Say(Verdict::kWarning, place + std::to_string(partition.isr_cnt) + " of " +
                                   std::to_string(partition.replica_cnt) + " replicas in sync");
      }
    }
    Say(Verdict::kGood, name + ": " + std::to_string(topic->partition_cnt) + " partitions, " +
                            std::to_string(replicas) + " replicas");
    if (const auto settings = Describe(RD_KAFKA_RESOURCE_TOPIC, name))
      LookAtSettings(name, *settings, replicas);
  }

  void SayMissing(const std::string& name) {
    if (auto_create_.value_or(false))
      return Say(Verdict::kWarning, name + ": not there yet, made on first use with the defaults");
    Say(Verdict::kProblem, name + ": not there, its events fail with topic_unknown: create it" +
                               (auto_create_ ? "" : " unless the brokers do on first use"));
  }

  void LookAtSettings(const std::string& name, const Settings& settings, int replicas) {
    const auto number = [&](const char* key) -> std::int64_t {
      const auto at = settings.find(key);
      return at == settings.end() ? 0 : std::strtoll(at->second.c_str(), nullptr, 10);
    };
    const std::int64_t limit = number("max.message.bytes");
    if (limit > 0 && limit < max_record_bytes_) {
      Say(Verdict::kWarning, name + ": max.message.bytes " + std::to_string(limit) +
                                 " is below the producer's message.max.bytes " +
                                 std::to_string(max_record_bytes_) +
                                 ": larger records fail after a round trip; make them equal");
    }
    if (limit > 0 && limit < batch_bytes_) {
      Say(Verdict::kWarning, name + ": max.message.bytes " + std::to_string(limit) +
                                 " is below batch.size " + std::to_string(batch_bytes_) +
                                 ": full batches are refused and taken apart; lower batch.size");
    }
    const std::int64_t in_sync = number("min.insync.replicas");
    if (in_sync > replicas) {
      Say(Verdict::kProblem, name + ": min.insync.replicas " + std::to_string(in_sync) + " of " +
                                 std::to_string(replicas) +
                                 " replicas: nothing can be written; lower it or add replicas");
    } else if (in_sync == replicas && replicas > 1) {
      Say(Verdict::kWarning, name +
                                 ": min.insync.replicas equals the replicas: the loss of one "
                                 "broker stops writing");
    }
    if (const auto at = settings.find("message.timestamp.type");
        at != settings.end() && at->second == "LogAppendTime") {
      Say(Verdict::kWarning, name +
                                 ": message.timestamp.type is LogAppendTime: the time of the "
                                 "event (meta.dt) is replaced by the broker's");
    }
  }

  // Nullopt, and a warning once, if the cluster does not tell.
  std::optional<Settings> Describe(rd_kafka_ResourceType_t type, const std::string& name) {
    const ResourcePtr resource(rd_kafka_ConfigResource_new(type, name.c_str()));
    rd_kafka_ConfigResource_t* wanted = resource.get();
    rd_kafka_AdminOptions_t* admin =
        rd_kafka_AdminOptions_new(client_.get(), RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    std::array<char, 256> text{};
    rd_kafka_AdminOptions_set_request_timeout(admin, timeout_ms_, text.data(), text.size());
    const QueuePtr queue(rd_kafka_queue_new(client_.get()));
    rd_kafka_DescribeConfigs(client_.get(), &wanted, 1, admin, queue.get());
    rd_kafka_AdminOptions_destroy(admin);
    const EventPtr event(rd_kafka_queue_poll(queue.get(), timeout_ms_ + 1000));
    std::string problem = "no answer";
    if (event != nullptr) {
      problem = rd_kafka_event_error_string(event.get());
      std::size_t count = 0;
      const auto* result = rd_kafka_event_DescribeConfigs_result(event.get());
      const auto** resources =
          result == nullptr ? nullptr : rd_kafka_DescribeConfigs_result_resources(result, &count);
      if (count == 1 && rd_kafka_ConfigResource_error(resources[0]) == RD_KAFKA_RESP_ERR_NO_ERROR)
        return SettingsOf(*resources[0]);
      if (count == 1) problem = rd_kafka_err2str(rd_kafka_ConfigResource_error(resources[0]));
    }
    if (!std::exchange(told_, true)) {
      Say(Verdict::kWarning, "the settings of " + name + " cannot be read (" + problem +
                                 "): allow DescribeConfigs to have them checked");
    }
    return std::nullopt;
  }

  static Settings SettingsOf(const rd_kafka_ConfigResource_t& resource) {
    Settings settings;
    std::size_t count = 0;
    const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(&resource, &count);
    for (std::size_t i = 0; i < count; ++i) {
      const char* value = rd_kafka_ConfigEntry_value(entries[i]);
      if (value != nullptr) settings[rd_kafka_ConfigEntry_name(entries[i])] = value;
    }
    return settings;
  }

  const core::KafkaOptions& options_;
  const int timeout_ms_;
  std::int64_t max_record_bytes_ = 0;
  std::int64_t batch_bytes_ = 0;
  std::optional<bool> auto_create_;
  bool told_ = false;
  ClientPtr client_;
  MetadataPtr metadata_;
  std::vector<KafkaFinding> findings_;
};

}  // namespace

std::vector<KafkaFinding> CheckKafka(const core::KafkaOptions& options,
                                     const std::vector<std::string>& topics,
                                     std::chrono::milliseconds timeout) {
  return Check(options, timeout).Run(topics);
}

}  // namespace sluice::produce
