#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "produce/kafka_replay.h"
#include "produce/producer.h"
#include "produce/spool.h"

namespace sluice::produce {

class KafkaClient;
class KafkaTopics;
struct KafkaTopic;

// Records to the topics of a Kafka cluster, through two librdkafka producers: guaranteed (short
// linger, answers from the delivery report) and hasty (long linger). Neither blocks; each is
// bounded by bytes and answers kQueueFull above. What the cluster says about topics is asked beside
// (KafkaTopics). A topic whose name Kafka does not allow gets
// kStreamNotConfigured. Produce and OpenTopic from any thread, Start and Stop from one.
class KafkaProducer final : public Producer {
 public:
  // The options are good (CheckKafkaConf).
  KafkaProducer(const core::KafkaOptions& options, std::string_view user_agent,
                core::Metrics& metrics);
  ~KafkaProducer() override;

  // Does not wait for a broker: a cluster that is down makes trouble(), not a failure.
  core::Result<void> Start() override;
  Topic* OpenTopic(std::string_view name) override;
  void Produce(Topic& topic, DeliveryMode mode, const Record& record, DeliverySlot* slot) override;
  bool HasRoom(DeliveryMode mode) const override;
  std::chrono::seconds DrainTime(DeliveryMode mode) const override;
  std::uint64_t queued_bytes() const override;
  std::uint64_t max_queued_bytes() const override;
  std::string trouble() const override;
  SpoolState spool_state() const override;
  std::uint64_t spool_waiting() const override;
  std::string spool_trouble() const override;
  std::chrono::steady_clock::time_point last_poll() const override;

  // Flushes both until `deadline`, but no longer than kafka's flush time-out; what is left goes to
  // the spool. `lost` counts hasty records that it did not take: a guaranteed one was refused to
  // its requester.
  StopReport Stop(std::chrono::steady_clock::time_point deadline) override;

  // Before Start: what Kafka does not take is kept there. `ops` of the spool outlives this.
  void UseSpool(const core::SpoolOptions& options, const std::string& folder,
                std::unique_ptr<FileOps> ops);

  KafkaClient& client(DeliveryMode mode) const;  // for drills and tests
  Spool* spool() { return spool_.get(); }        // null: there is none

 private:
  const core::KafkaOptions options_;
  const std::string user_agent_;
  core::Metrics& metrics_;
  const int hasty_percent_;
  std::unique_ptr<KafkaTopics> known_topics_;
  std::unique_ptr<FileOps> spool_ops_;
  std::unique_ptr<KafkaReplay> replay_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<KafkaSpill> guaranteed_spill_;
  std::unique_ptr<KafkaSpill> hasty_spill_;
  std::unique_ptr<KafkaClient> guaranteed_;
  std::unique_ptr<KafkaClient> hasty_;
  std::mutex topics_mutex_;
  std::map<std::string, std::unique_ptr<KafkaTopic>, std::less<>> topics_;
};

// Fails with all that is wrong in the options.
core::Result<std::unique_ptr<Producer>> MakeKafkaProducer(const core::OutputOptions& options,
                                                          std::string_view user_agent,
                                                          core::Metrics& metrics);

}  // namespace sluice::produce
