#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "produce/kafka_conf.h"
#include "produce/kafka_topic.h"
#include "produce/kafka_waves.h"
#include "produce/producer.h"

namespace sluice::produce {

// A topic as one handle has it open.
struct KafkaOpenTopic {
  KafkaOpenTopic(KafkaTopic& its_topic, rd_kafka_topic_t* its_rkt,
                 const KafkaWaves::Options& options, std::atomic<std::int64_t>& held,
                 KafkaWaves::Send send)
      : topic(its_topic), rkt(its_rkt), waves(options, held, std::move(send)) {}

  KafkaTopic& topic;
  rd_kafka_topic_t* const rkt;
  KafkaWaves waves;
};

// One librdkafka producer and the thread that polls it, from its making to its end: reports,
// errors, statistics and log lines are always taken, also while it is idle and while it is flushed,
// so that its queue cannot fill unseen.
class KafkaHandle {
 public:
  using Reports = std::span<const rd_kafka_message_t* const>;

  // Called on the handle's own thread.
  class Sink {
   public:
    // The fates of records; the opaque of each is its DeliverySlot. Never empty.
    virtual void OnReports(KafkaHandle& handle, Reports reports) = 0;
    // Produce took the record, librdkafka did not when its turn came. Also on the thread that
    // flushes or purges.
    virtual void OnRefused(KafkaHandle& handle, KafkaTopic& topic,
                           const KafkaWaves::Refused& refused) = 0;
    virtual void OnError(KafkaHandle& handle, rd_kafka_resp_err_t error, const char* text) = 0;
    virtual void OnStatistics(KafkaHandle& handle, const char* json) = 0;
    // After each of the above and at least ten times a second.
    virtual void OnPolled(KafkaHandle& handle) = 0;

   protected:
    ~Sink() = default;
  };

  // `sink` outlives the handle. Connecting goes on in the background. Fails with librdkafka's
  // words.
  static core::Result<std::unique_ptr<KafkaHandle>> Make(KafkaConfPtr conf, Sink& sink);

  // Waits for nothing: what is still queued is gone and its slots are never completed. Not on the
  // handle's own thread.
  ~KafkaHandle();
  KafkaHandle(const KafkaHandle&) = delete;
  KafkaHandle& operator=(const KafkaHandle&) = delete;

  // Owned by the handle, null for a name that librdkafka refuses. Any thread; takes locks.
  KafkaOpenTopic* OpenTopic(KafkaTopic& topic);

  // The topic that a record of a report was for.
  static KafkaTopic& TopicOf(const rd_kafka_message_t& message) {
    return *static_cast<KafkaTopic*>(rd_kafka_topic_opaque(message.rkt));
  }

  // Queues a record whose bytes stay where they are until its report. On failure the slot is
  // untouched. Any thread, never blocks.
  // What is held for a moment (KafkaWaves) and then not taken comes back in OnRefused.
  rd_kafka_resp_err_t Produce(KafkaOpenTopic& topic, const Record& record, DeliverySlot* slot);

  // The same for a topic that need not be open.
  rd_kafka_resp_err_t Produce(KafkaTopic& topic, const Record& record, DeliverySlot* slot);

  // Puts a record that came back in a report into the queue of this handle: same topic, key and
  // bytes.
  rd_kafka_resp_err_t ProduceAgain(const rd_kafka_message_t& message, std::int64_t timestamp_ms);

  // Sends at once and waits until everything has its report (which the thread takes), or until the
  // deadline.
  bool Flush(std::chrono::steady_clock::time_point deadline);

  // Gives back what is queued and what is in flight; the reports come as usual.
  void Purge();

  // Records whose report was not taken yet, those that are held included. librdkafka's own number
  // (rd_kafka_outq_len) has the log lines and errors in it that wait to be polled.
  std::int64_t waiting() const { return waiting_.load(std::memory_order_acquire); }

  // True once the producer can never produce again; `text` says why.
  bool IsFatal(std::string* text) const;

  // Asks the brokers for metadata, for at most `longest`: true if one answered.
  bool Probe(std::chrono::milliseconds longest);

  // Has librdkafka ask for a topic of this handle, which it does seldom once it was told that there
  // is none. For at most `longest`.
  void ProbeTopic(const KafkaOpenTopic& topic, std::chrono::milliseconds longest);

  // Makes the thread call OnPolled soon.
  void Wake() { rd_kafka_queue_yield(queue_); }

  // For drills and tests: breaks the producer for good, as a lost sequence does.
  void Break(const char* reason) {
    rd_kafka_test_fatal_error(kafka_, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, reason);
  }

 private:
  KafkaHandle(rd_kafka_t* kafka, const KafkaWaves::Options& waves, Sink& sink);
  rd_kafka_topic_t* NewTopic(KafkaTopic& topic);
  KafkaOpenTopic* FindOpen(const rd_kafka_topic_t* topic);
  rd_kafka_resp_err_t Send(rd_kafka_topic_t* topic, const Record& record, DeliverySlot* slot);
  void Run();
  void Serve(rd_kafka_event_t* event);
  void OnReports(Reports reports);
  void GiveBack(KafkaTopic& topic, const KafkaWaves::Refused& refused);
  void EndLongHolds();
  void OpenWaves();
  template <class Release>
  void ReleaseAll(Release release);

  rd_kafka_t* const kafka_;
  rd_kafka_queue_t* const queue_;
  Sink& sink_;
  const KafkaWaves::Options waves_;
  std::atomic<std::int64_t> held_{0};
  std::mutex topics_mutex_;
  std::unordered_map<const rd_kafka_topic_t*, std::unique_ptr<KafkaOpenTopic>> topics_;
  std::atomic<std::int64_t> waiting_{0};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace sluice::produce
