#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "produce/fallback_switch.h"
#include "produce/kafka_replay.h"
#include "produce/producer.h"
#include "produce/spool.h"

namespace sluice::produce {

class FallbackWatch;
class KafkaAdmin;
class KafkaClient;
class KafkaCluster;

// Records to the topics of a Kafka cluster (KafkaCluster), and to a second one while the first is
// out of reach, where there is one (FallbackWatch). What Kafka does not take goes to the spool, and
// from there to the first cluster only. Produce and OpenTopic from any thread, Start and Stop from
// one.
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
  std::optional<std::string> detour() const override;
  SpoolState spool_state() const override;
  std::uint64_t spool_waiting() const override;
  std::string spool_trouble() const override;
  std::chrono::steady_clock::time_point last_poll() const override;

  // Flushes everything until `deadline`, but no longer than kafka's flush time-out; what is left
  // goes to the spool. `lost` counts hasty records that it did not take: a guaranteed one was
  // refused to its requester.
  StopReport Stop(std::chrono::steady_clock::time_point deadline) override;

  // Before Start: what Kafka does not take is kept there. `ops` of the spool outlives this.
  void UseSpool(const core::SpoolOptions& options, const std::string& folder,
                std::unique_ptr<FileOps> ops);

  KafkaClient& client(DeliveryMode mode) const;  // of the first cluster; for drills and tests
  Spool* spool() { return spool_.get(); }        // null: there is none

 private:
  bool IsAway() const;
  const KafkaCluster& Target() const { return IsAway() ? *fallback_ : *first_; }
  FallbackSwitch::Sign LookAtFirst(std::chrono::milliseconds longest);

  const core::KafkaOptions options_;
  const std::string user_agent_;
  core::Metrics& metrics_;
  std::unique_ptr<FileOps> spool_ops_;
  std::unique_ptr<KafkaReplay> replay_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<KafkaCluster> first_;
  std::unique_ptr<KafkaCluster> fallback_;  // null: there is none, nor the watch
  std::unique_ptr<FallbackWatch> watch_;
  std::unique_ptr<KafkaAdmin> probe_;  // of the watch's thread
  double delivered_before_ = 0;        // of the watch's thread
};

// Fails with all that is wrong in the options.
core::Result<std::unique_ptr<Producer>> MakeKafkaProducer(const core::OutputOptions& options,
                                                          std::string_view user_agent,
                                                          core::Metrics& metrics);

}  // namespace sluice::produce
