#include "produce/kafka_topics.h"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/log.h"

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kQuestionTime{1500};
constexpr milliseconds kRepeatTime{1000};  // between questions that something gave rise to
constexpr milliseconds kGatherTime{20};    // a new topic seldom comes alone

// The first cluster's go without: they are older than the fallback.
prometheus::Labels LabelsOf(KafkaTarget target) {
  if (target == KafkaTarget::kFirst) return {};
  return {{"cluster", "fallback"}};
}

std::uint64_t LimitIn(const KafkaAdmin::Settings& settings) {
  const auto at = settings.find("max.message.bytes");
  std::uint64_t limit = 0;
  if (at != settings.end())
    std::from_chars(at->second.data(), at->second.data() + at->second.size(), limit);
  return limit;
}

}  // namespace

KafkaTopics::KafkaTopics(const core::KafkaTopicOptions& options, std::vector<KafkaEntry> entries,
                         AppearedFunction on_appeared, core::Metrics& metrics, KafkaTarget target)
    : options_(options),
      entries_(std::move(entries)),
      on_appeared_(std::move(on_appeared)),
      missing_(prometheus::BuildGauge()
                   .Name("sluice_kafka_topics_missing")
                   .Help("Topics of streams that the cluster does not have")
                   .Register(metrics.registry())
                   .Add(LabelsOf(target))) {}

KafkaTopics::~KafkaTopics() { Stop(); }

void KafkaTopics::Start() {
  thread_ = std::thread([this] { Run(); });
  ::pthread_setname_np(thread_.native_handle(), "sluice-topics");
}

void KafkaTopics::BeginStop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

void KafkaTopics::Stop() {
  BeginStop();
  if (thread_.joinable()) thread_.join();
}

void KafkaTopics::Add(KafkaTopic& topic) {
  const std::lock_guard lock(mutex_);
  topics_.push_back(&topic);
  if (answered_) {
    if (known_.contains(topic.name())) {
      topic.presence.store(TopicPresence::kPresent, std::memory_order_relaxed);
    } else if (options_.policy == core::TopicPolicy::kRequire) {
      topic.presence.store(TopicPresence::kAbsent, std::memory_order_relaxed);
    }
  }
  added_ = true;
  changed_.notify_all();
}

void KafkaTopics::AskAgain() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(ask_, true)) return;
  changed_.notify_all();
}

std::string KafkaTopics::WhyAbsent(const KafkaTopic& topic) const {
  const std::lock_guard lock(mutex_);
  const auto at = reasons_.find(&topic);
  if (at != reasons_.end()) return at->second;
  return "Kafka has no topic " + topic.name() +
         ", and none is made with topics: require; create it";
}

void KafkaTopics::Run() {
  Outcome outcome = Outcome::kAnswered;
  Time asked{};
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const milliseconds regular = outcome == Outcome::kAnswered ? options_.refresh : kRepeatTime;
    changed_.wait_until(lock, asked + regular, [&] { return stopping_ || ask_ || added_; });
    if (!stopping_ && ask_) {
      changed_.wait_until(lock, asked + std::min(kRepeatTime, options_.refresh),
                          [&] { return stopping_ || added_; });
    }
    if (!stopping_ && added_) changed_.wait_for(lock, kGatherTime, [&] { return stopping_; });
    if (stopping_) break;
    ask_ = added_ = false;
    lock.unlock();
    asked = steady_clock::now();
    outcome = AskOnce();
    lock.lock();
  }
  lock.unlock();
  admin_.reset();
}

KafkaTopics::Outcome KafkaTopics::AskOnce() {
  if (admin_ == nullptr) {
    auto made = KafkaAdmin::Make(entries_);
    if (!made) {
      core::Log(core::LogLevel::kError, "kafka_admin_failed", made.error().message);
      return Outcome::kNoAnswer;
    }
    admin_ = std::move(*made);
  }
  // Those that are added from here on are for the next time.
  std::vector<KafkaTopic*> topics;
  {
    const std::lock_guard lock(mutex_);
    topics = topics_;
  }
  const auto cluster = admin_->Look(kQuestionTime);
  if (!cluster) return Outcome::kNoAnswer;  // the producers tell that no broker answers
  {
    const std::lock_guard lock(mutex_);
    answered_ = true;
    known_.clear();
    for (const auto& [name, facts] : cluster->topics) known_.insert(known_.end(), name);
  }
  Place(topics, *cluster);
  ReadLimits(topics);
  return Outcome::kAnswered;
}

void KafkaTopics::Place(const std::vector<KafkaTopic*>& topics,
                        const KafkaAdmin::Cluster& cluster) {
  std::vector<KafkaTopic*> missing;
  for (KafkaTopic* topic : topics) {
    if (cluster.topics.contains(topic->name())) {
      SetPresent(*topic);
    } else {
      missing.push_back(topic);
    }
  }
  missing_.Set(static_cast<double>(missing.size()));
  if (options_.CreatesItself()) return MakeMissing(missing);
  for (KafkaTopic* topic : missing) {
    if (options_.policy == core::TopicPolicy::kRequire) {
      SetAbsent(*topic, {});
    } else {  // the brokers may make it
      were_missing_.insert(topic);
      topic->presence.store(TopicPresence::kUnknown, std::memory_order_relaxed);
    }
  }
}

void KafkaTopics::MakeMissing(const std::vector<KafkaTopic*>& missing) {
  if (missing.empty()) return;
  std::vector<KafkaAdmin::NewTopic> wanted;
  wanted.reserve(missing.size());
  for (const KafkaTopic* topic : missing) {
    wanted.push_back({topic->name(), options_.partitions, options_.replication, options_.config});
  }
  const auto results = admin_->Create(wanted, kQuestionTime);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    KafkaTopic& topic = *missing[i];
    if (!results[i]) {
      SetAbsent(topic, "Kafka has no topic " + topic.name() + ", and it cannot be made: " +
                           results[i].error().message + " (kafka.topics.*)");
      continue;
    }
    core::Log(core::LogLevel::kInfo, "kafka_topic_created", "a topic was created",
              {{"topic", topic.name()}});
    were_missing_.insert(&topic);
    SetPresent(topic);
  }
}

void KafkaTopics::SetPresent(KafkaTopic& topic) {
  const auto before = topic.presence.exchange(TopicPresence::kPresent, std::memory_order_relaxed);
  const bool was_missing = were_missing_.erase(&topic) > 0;
  if (before != TopicPresence::kAbsent && !was_missing) return;
  {
    const std::lock_guard lock(mutex_);
    reasons_.erase(&topic);
  }
  on_appeared_(topic);
}

void KafkaTopics::SetAbsent(KafkaTopic& topic, std::string reason) {
  std::string text = WhyAbsent(topic);
  if (!reason.empty()) {
    text = reason;
    const std::lock_guard lock(mutex_);
    reasons_[&topic] = std::move(reason);
  }
  topic.max_batch_bytes.store(0, std::memory_order_relaxed);
  topic.presence.store(TopicPresence::kAbsent, std::memory_order_relaxed);
  if (were_missing_.insert(&topic).second)
    core::Log(core::LogLevel::kWarn, "kafka_topic_missing", text, {{"topic", topic.name()}});
}

void KafkaTopics::ReadLimits(const std::vector<KafkaTopic*>& topics) {
  std::vector<KafkaTopic*> present;
  std::vector<std::string> names;
  for (KafkaTopic* topic : topics) {
    if (topic->presence.load(std::memory_order_relaxed) != TopicPresence::kPresent) continue;
    present.push_back(topic);
    names.push_back(topic->name());
  }
  const auto settings = admin_->Describe(KafkaAdmin::Resource::kTopic, names, kQuestionTime);
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (settings[i]) {
      present[i]->max_batch_bytes.store(LimitIn(*settings[i]), std::memory_order_relaxed);
    } else if (!std::exchange(told_, true)) {
      core::Log(core::LogLevel::kInfo, "kafka_topic_settings_unknown",
                "the settings of topics cannot be read (" + settings[i].error().message +
                    "): max.message.bytes is only found out when a record is refused; allow "
                    "DescribeConfigs to have it known before",
                {{"topic", names[i]}});
    }
  }
}

}  // namespace sluice::produce
