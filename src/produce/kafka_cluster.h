#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "produce/kafka_client.h"
#include "produce/kafka_topics.h"

namespace sluice::produce {

// One Kafka cluster: its two producers, guaranteed and hasty, and what it says about its topics.
// Neither producer blocks; each is bounded by bytes and answers kQueueFull above. A topic whose
// name Kafka does not allow gets kStreamNotConfigured. Produce and OpenTopic from any thread, the
// others from one.
class KafkaCluster {
 public:
  // The options are good (CheckKafkaConf).
  KafkaCluster(const core::KafkaOptions& options, KafkaTarget target, std::string_view user_agent,
               core::Metrics& metrics);
  ~KafkaCluster();
  KafkaCluster(const KafkaCluster&) = delete;
  KafkaCluster& operator=(const KafkaCluster&) = delete;

  // Before Start: what the cluster does not take goes there. Outlives this.
  void SpillTo(Spool& spool, std::chrono::milliseconds after);

  // Does not wait for a broker: a cluster that is down makes trouble(), not a failure.
  core::Result<void> Start();

  // Of the stream whose topic in the first cluster is `home_name`. Owned by this.
  KafkaTopic& OpenTopic(std::string_view home_name);

  void Produce(KafkaTopic& topic, DeliveryMode mode, const Record& record, DeliverySlot* slot);

  // Whether the queues would take a record of that mode now.
  bool HasRoom(DeliveryMode mode) const;
  std::uint64_t queued_bytes() const;
  std::uint64_t max_queued_bytes() const;

  // Good reports since the start.
  double delivered() const { return guaranteed_->delivered() + hasty_->delivered(); }
  std::string trouble() const;
  // When the thread that is further behind last took what came back.
  std::chrono::steady_clock::time_point last_poll() const;

  KafkaClient& client(DeliveryMode mode) const;

  // Asks nothing more about topics; for the beginning of a stop.
  void BeginStop() { known_topics_->BeginStop(); }

  // Flushes both producers until `deadline`, then takes back what is left and fails it. Returns how
  // many hasty records were lost.
  std::uint64_t Stop(std::chrono::steady_clock::time_point deadline);

 private:
  const std::string prefix_;  // of topics, before the name in the first cluster
  const int hasty_percent_;
  core::Metrics& metrics_;
  std::unique_ptr<KafkaTopics> known_topics_;
  std::unique_ptr<KafkaSpill> guaranteed_spill_;
  std::unique_ptr<KafkaSpill> hasty_spill_;
  std::unique_ptr<KafkaClient> guaranteed_;
  std::unique_ptr<KafkaClient> hasty_;
  std::mutex topics_mutex_;
  std::map<std::string, std::unique_ptr<KafkaTopic>, std::less<>> topics_;  // by home name
};

}  // namespace sluice::produce
