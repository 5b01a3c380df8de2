#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "produce/kafka_conf.h"

namespace sluice::produce {

// Questions to a Kafka cluster about itself, and the making of topics. Every call blocks for about
// the time it is given, at most; an error's message is for a person. One thread at a time.
class KafkaAdmin {
 public:
  using Timeout = std::chrono::milliseconds;
  using Settings = std::map<std::string, std::string, std::less<>>;

  struct Broker {
    std::int32_t id = 0;
    std::string address;
  };
  struct Partition {
    std::int32_t id = 0;
    bool has_leader = false;
    int replicas = 0;
    int in_sync = 0;
  };
  struct TopicFacts {
    std::string error;  // empty: it can be used as far as its metadata tell
    std::vector<Partition> partitions;
  };
  struct Cluster {
    std::vector<Broker> brokers;
    std::map<std::string, TopicFacts, std::less<>> topics;
  };
  struct NewTopic {
    std::string name;
    int partitions = 0;   // 0: the brokers' default
    int replication = 0;  // 0: the brokers' default
    core::StringPairs config;
  };
  enum class Resource : std::uint8_t { kTopic, kBroker };

  // A client of its own with the entries of a producer; connects when it is asked something. It is
  // silent: what goes wrong is in the results.
  static core::Result<std::unique_ptr<KafkaAdmin>> Make(const std::vector<KafkaEntry>& entries);

  ~KafkaAdmin();
  KafkaAdmin(const KafkaAdmin&) = delete;
  KafkaAdmin& operator=(const KafkaAdmin&) = delete;

  // True if a broker answers at all.
  bool Reach(Timeout timeout);

  // Brokers and all topics. Makes no topic.
  core::Result<Cluster> Look(Timeout timeout);

  // Why the topic cannot be described ("Broker: Topic authorization failed"); empty if it can.
  // Tells what Look does not: a cluster hides the topics that one may not see.
  std::string ObjectionTo(const std::string& topic, Timeout timeout);

  // The settings in force of each, in the order of the names.
  std::vector<core::Result<Settings>> Describe(Resource resource,
                                               const std::vector<std::string>& names,
                                               Timeout timeout);

  // In the order of the topics; a topic that is there already is a success.
  std::vector<core::Result<void>> Create(const std::vector<NewTopic>& topics, Timeout timeout);

 private:
  explicit KafkaAdmin(rd_kafka_t* kafka) : kafka_(kafka) {}
  std::vector<core::Result<Settings>> DescribeSome(Resource resource,
                                                   const std::vector<std::string>& names,
                                                   Timeout timeout);

  rd_kafka_t* const kafka_;
};

}  // namespace sluice::produce
