#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "produce/kafka_client.h"
#include "produce/kafka_topics.h"
#include "produce/spool_replayer.h"

namespace sluice::produce {

// Sends spooled records to the cluster through a producer of its own, so that they do not stand
// before new ones in a queue. A record waits for Kafka as long as it takes: within a partition none
// overtakes another. Its metrics are the spool's: these records were counted when they were
// spooled.
class KafkaReplay final : public ReplayTarget {
 public:
  // The options are good (CheckKafkaConf).
  KafkaReplay(const core::KafkaOptions& options, std::string_view user_agent);
  ~KafkaReplay();
  KafkaReplay(const KafkaReplay&) = delete;
  KafkaReplay& operator=(const KafkaReplay&) = delete;

  core::Result<void> Start();
  Topic* OpenTopic(std::string_view name) override;
  void Replay(Topic& topic, const Record& record, DeliverySlot* slot) override;

  // Lets Kafka take what is on its way until `deadline`, and gives the rest back.
  void Stop(std::chrono::steady_clock::time_point deadline);

 private:
  core::Metrics uncounted_;
  KafkaTopics unasked_;  // never started: whether a topic is there, each record finds out
  std::mutex topics_mutex_;
  std::map<std::string, std::unique_ptr<KafkaTopic>, std::less<>> topics_;
  KafkaClient client_;
};

}  // namespace sluice::produce
