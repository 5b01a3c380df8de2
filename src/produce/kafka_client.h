#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "core/heartbeat.h"
#include "core/metrics.h"
#include "produce/kafka_conf.h"
#include "produce/kafka_errors.h"
#include "produce/kafka_handle.h"
#include "produce/kafka_metrics.h"
#include "produce/kafka_room.h"
#include "produce/kafka_spill.h"
#include "produce/kafka_topic.h"
#include "produce/kafka_topics.h"
#include "produce/kafka_trouble.h"
#include "produce/producer.h"
#include "produce/replay_ledger.h"

namespace sluice::produce {

// The producer of one delivery mode: one librdkafka instance at a time, bounded by bytes, that is
// replaced when it breaks for good. Records are owned by their requests until their report:
//
//  - A batch that the broker refuses for one of its records is taken apart: each record is produced
//  by itself through a
//    second instance that sends batches of one, so that the innocent arrive and the guilty one is
//    named. They may arrive after records that were produced later.
//  - A record with a timestamp outside of the broker's window is produced with the time of now; its
//  value is untouched.
//  - After a fatal error (a lost idempotence sequence) a new generation is made and what the old
//  one gives back is
//    produced there. What may have been written already is produced again only if it is hasty (a
//    duplicate is better than a loss, and meta.id tells them apart); of a guaranteed one the
//    requester is told.
//
// Somebody waits for the answer of a guaranteed record: it is produced by itself in the first three
// quarters of message.timeout.ms, and then has a quarter; in a new generation only in the first
// eighth. No record takes longer than 1.125 of message.timeout.ms, plus the up to two seconds that
// librdkafka takes to see that it is overdue. A hasty one is replayed for the whole of it.
//
// Produce and AddTopic may be called from any thread, the others from one.
class KafkaClient final : private KafkaHandle::Sink {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // `topics` outlives the client. `target` is told in metrics and logs.
  KafkaClient(DeliveryMode mode, std::vector<KafkaEntry> entries,
              const core::KafkaAdmitOptions& admit, KafkaTopics& topics, core::Metrics& metrics,
              KafkaTarget target = KafkaTarget::kFirst);
  ~KafkaClient();
  KafkaClient(const KafkaClient&) = delete;
  KafkaClient& operator=(const KafkaClient&) = delete;

  core::Result<void> Start();

  // Before Start: what Kafka does not take goes there where it belongs there. Outlives the client.
  void SpillTo(KafkaSpill& spill) { spill_ = &spill; }

  // Before the first Produce to the topic, which outlives the client. Also before Start.
  void AddTopic(KafkaTopic& topic);

  void Produce(KafkaTopic& topic, const Record& record, DeliverySlot* slot);

  // The topic is there since a moment. Any thread.
  void RefreshTopic(KafkaTopic& topic);

  const KafkaRoom& room() const { return room_; }
  std::uint64_t queued_bytes() const { return room_.bytes(); }
  // Good reports since the start.
  double delivered() const { return kafka_metrics_.delivered->Value(); }
  std::string trouble() const;
  // When the thread of the present generation last came round.
  SteadyTime last_poll() const { return polled_.last(); }

  // Flushes until `deadline`, then takes back what is left and fails it. Returns how many hasty
  // records were lost.
  std::uint64_t Stop(std::chrono::steady_clock::time_point deadline);

  // For drills and tests: the present generation breaks for good.
  void BreakGeneration(const char* reason);

 private:
  enum class Phase : std::uint8_t { kServing, kStopping, kPurging };

  enum class Company : std::uint8_t { kBatch, kAlone };

  struct Parked {  // came while a generation was being replaced, or waits to be produced alone
    KafkaTopic* topic;
    Record record;
    DeliverySlot* slot;
    Company company;
  };

  struct Limits {
    std::uint64_t queue_bytes = 0;
    std::uint64_t record_bytes = 0;
    std::chrono::milliseconds timeout{0};
    bool compressed = false;
  };
  static Limits LimitsOf(const std::vector<KafkaEntry>& entries);
  static std::string_view WordOf(DeliveryMode mode, KafkaTarget target);
  static std::uint64_t SizeOf(const Record& record) {
    return record.value.size() + (record.has_key ? record.key.size() : 0);
  }
  static std::uint64_t SizeOf(const rd_kafka_message_t& message) {
    return message.len + message.key_len;
  }
  KafkaRoom::Bytes& UseOf(KafkaTopic& topic) const {
    return topic.queued_bytes[static_cast<std::size_t>(mode_)];
  }

  void OnReports(KafkaHandle& handle, KafkaHandle::Reports reports) override;
  void OnRefused(KafkaHandle& handle, KafkaTopic& topic,
                 const KafkaWaves::Refused& refused) override;
  void OnError(KafkaHandle& handle, rd_kafka_resp_err_t error, const char* text) override;
  void OnStatistics(KafkaHandle& handle, const char* json) override;
  void OnPolled(KafkaHandle& handle) override;

  void Refuse(const KafkaTopic& topic, const Record& record, DeliverySlot* slot, const Fate& fate,
              std::string_view message);
  bool Divert(const KafkaTopic& topic, const Record& record, DeliverySlot* slot);
  bool Spill(const rd_kafka_message_t& message, const Fate& fate);
  std::optional<core::Error> Objection(const KafkaTopic& topic, const Record& record,
                                       Company* company) const;
  rd_kafka_resp_err_t Enqueue(KafkaTopic& topic, const Record& record, DeliverySlot* slot,
                              Company company);
  rd_kafka_resp_err_t EnqueueAlone(const Parked& one);
  void FreeRoom(KafkaHandle::Reports ended);
  void CompleteFailed(const rd_kafka_message_t& message, const Fate& fate);

  bool TryReplay(KafkaHandle& handle, const rd_kafka_message_t& message, const Fate& fate);
  template <class ProduceFunction>
  bool WithAlone(ProduceFunction produce);
  bool ReplayAlone(const rd_kafka_message_t& message, std::int64_t timestamp_ms);
  bool ReplayInNextGeneration(const rd_kafka_message_t& message);

  void Renew(KafkaHandle& broken, const std::string& reason);
  void ServeParked();
  void DropDrained();
  void ProbeTopics(KafkaHandle& handle);
  bool IsCurrent(const KafkaHandle& handle) const;
  core::Result<std::unique_ptr<KafkaHandle>> MakeHandle(std::vector<KafkaEntry> entries);
  std::vector<KafkaHandle*> Handles();

  const DeliveryMode mode_;
  const std::string_view type_;  // label of metrics and log lines
  const std::vector<KafkaEntry> entries_;
  const Limits limits_;
  KafkaTopics& known_topics_;
  core::Metrics& metrics_;
  KafkaMetrics kafka_metrics_;
  KafkaTrouble trouble_;
  core::Heartbeat polled_;
  KafkaSpill* spill_ = nullptr;
  KafkaRoom room_;
  ReplayLedger replays_;

  std::atomic<std::uint64_t> lost_{0};
  std::atomic<Phase> phase_{Phase::kServing};
  std::atomic<bool> broken_{false};  // the present generation is, and waits to be replaced

  std::shared_mutex replay_mutex_;  // shared while a record moves from one instance to another
  mutable std::shared_mutex generation_mutex_;  // shared to produce, exclusive to replace
  std::unique_ptr<KafkaHandle> current_;
  bool stopping_ = false;

  std::mutex topics_mutex_;
  std::vector<KafkaTopic*> topics_;

  std::mutex others_mutex_;  // never held while a handle is made or destroyed
  std::vector<std::unique_ptr<KafkaHandle>> retired_;
  std::unique_ptr<KafkaHandle> alone_;
  std::vector<Parked> parked_;
  std::vector<KafkaTopic*> appeared_;
  bool closed_ = false;        // Stop purges: nothing goes to alone_ any more
  bool keep_retired_ = false;  // Stop looks at them
  SteadyTime renewed_{};
};

}  // namespace sluice::produce
