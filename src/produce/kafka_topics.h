#pragma once

#include <prometheus/gauge.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/config.h"
#include "core/metrics.h"
#include "produce/kafka_admin.h"
#include "produce/kafka_topic.h"

namespace sluice::produce {

// What the cluster says about the topics that are used: whether they are there, and how large a
// batch each takes. Asks on a thread of its own, at first, regularly, and when told that something
// changed; writes the answers into the topics. Where the cluster does not answer, or does not allow
// the question, what was known stays. Also makes the topics that are missing, if it is to.
class KafkaTopics {
 public:
  // A topic that was missing is there; on the thread of this.
  using AppearedFunction = std::function<void(KafkaTopic& topic)>;

  // `entries` are those of a producer to `target`.
  KafkaTopics(const core::KafkaTopicOptions& options, std::vector<KafkaEntry> entries,
              AppearedFunction on_appeared, core::Metrics& metrics,
              KafkaTarget target = KafkaTarget::kFirst);
  ~KafkaTopics();
  KafkaTopics(const KafkaTopics&) = delete;
  KafkaTopics& operator=(const KafkaTopics&) = delete;

  void Start();

  // Asks nothing more from now on. Stop also waits for a question that is under way: seconds, where
  // brokers are down.
  void BeginStop();
  void Stop();

  // Before the topic's first record; it outlives this. Decides its presence at once if the topics
  // of the cluster are known. Any thread.
  void Add(KafkaTopic& topic);

  // Something that happened does not fit what is known: asks soon, but not more than once a second.
  // Any thread.
  void AskAgain();

  // For a person: why the topic's records fail. Any thread.
  std::string WhyAbsent(const KafkaTopic& topic) const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  enum class Outcome : std::uint8_t { kAnswered, kNoAnswer };

  void Run();
  Outcome AskOnce();
  void Place(const std::vector<KafkaTopic*>& topics, const KafkaAdmin::Cluster& cluster);
  void MakeMissing(const std::vector<KafkaTopic*>& missing);
  void ReadLimits(const std::vector<KafkaTopic*>& topics);
  void SetAbsent(KafkaTopic& topic, std::string reason);
  void SetPresent(KafkaTopic& topic);

  const core::KafkaTopicOptions options_;
  const std::vector<KafkaEntry> entries_;
  const AppearedFunction on_appeared_;
  prometheus::Gauge& missing_;
  std::unique_ptr<KafkaAdmin> admin_;         // of the thread
  bool told_ = false;                         // that settings cannot be read; of the thread
  std::set<const KafkaTopic*> were_missing_;  // of the thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<KafkaTopic*> topics_;
  std::set<std::string, std::less<>> known_;  // all of the cluster, when it answered last
  std::map<const KafkaTopic*, std::string> reasons_;
  bool answered_ = false;
  bool ask_ = false;
  bool added_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::produce
