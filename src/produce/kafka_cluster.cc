#include "produce/kafka_cluster.h"

#include <algorithm>
#include <future>

#include "produce/kafka_conf.h"

namespace sluice::produce {
namespace {

constexpr std::size_t kMaxTopicBytes = 249;

bool IsLegalTopic(std::string_view name) {
  if (name.empty() || name.size() > kMaxTopicBytes || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace

KafkaCluster::KafkaCluster(const core::KafkaOptions& options, KafkaTarget target,
                           std::string_view user_agent, core::Metrics& metrics)
    : prefix_(target == KafkaTarget::kFallback ? options.fallback.topic_prefix : std::string()),
      hasty_percent_(options.admit.hasty),
      metrics_(metrics) {
  known_topics_ = std::make_unique<KafkaTopics>(
      options.topics, MergeKafkaEntries(options, DeliveryMode::kGuaranteed, user_agent, target),
      [this](KafkaTopic& topic) {
        guaranteed_->RefreshTopic(topic);
        hasty_->RefreshTopic(topic);
      },
      metrics, target);
  const auto make = [&](DeliveryMode mode) {
    return std::make_unique<KafkaClient>(mode, MergeKafkaEntries(options, mode, user_agent, target),
                                         options.admit, *known_topics_, metrics, target);
  };
  guaranteed_ = make(DeliveryMode::kGuaranteed);
  hasty_ = make(DeliveryMode::kHasty);
}

KafkaCluster::~KafkaCluster() { Stop(std::chrono::steady_clock::now()); }

void KafkaCluster::SpillTo(Spool& spool, std::chrono::milliseconds after) {
  guaranteed_spill_ = std::make_unique<KafkaSpill>(spool, DeliveryMode::kGuaranteed, after);
  hasty_spill_ = std::make_unique<KafkaSpill>(spool, DeliveryMode::kHasty, after);
  guaranteed_->SpillTo(*guaranteed_spill_);
  hasty_->SpillTo(*hasty_spill_);
}

core::Result<void> KafkaCluster::Start() {
  if (auto started = guaranteed_->Start(); !started) return started;
  if (auto started = hasty_->Start(); !started) return started;
  known_topics_->Start();
  return {};
}

KafkaTopic& KafkaCluster::OpenTopic(std::string_view home_name) {
  const std::lock_guard lock(topics_mutex_);
  auto at = topics_.find(home_name);
  if (at == topics_.end()) {
    const std::string name = prefix_ + std::string(home_name);
    at = topics_.emplace(std::string(home_name), std::make_unique<KafkaTopic>(name, home_name))
             .first;
    KafkaTopic& topic = *at->second;
    topic.legal = IsLegalTopic(name);
    if (topic.legal) {
      guaranteed_->AddTopic(topic);
      hasty_->AddTopic(topic);
      known_topics_->Add(topic);
    }
  }
  return *at->second;
}

void KafkaCluster::Produce(KafkaTopic& topic, DeliveryMode mode, const Record& record,
                           DeliverySlot* slot) {
  if (!topic.legal) {
    metrics_.RecordsHanded(1);
    metrics_.RecordsFailed(1);
    return Delivery::CompleteFailed(
        slot, core::ErrorCode::kStreamNotConfigured,
        "the stream's topic " + topic.name() +
            " is no legal Kafka topic name (letters, digits, '.', '_', '-', at most 249)");
  }
  client(mode).Produce(topic, record, slot);
}

KafkaClient& KafkaCluster::client(DeliveryMode mode) const {
  return mode == DeliveryMode::kGuaranteed ? *guaranteed_ : *hasty_;
}

bool KafkaCluster::HasRoom(DeliveryMode mode) const {
  // Hasty events would only add to what brokers cannot take from the guaranteed ones.
  if (mode == DeliveryMode::kHasty && guaranteed_->room().IsFilledTo(hasty_percent_)) return false;
  const KafkaRoom& room = client(mode).room();
  return room.bytes() < room.admitted_bytes();
}

std::uint64_t KafkaCluster::queued_bytes() const {
  return guaranteed_->queued_bytes() + hasty_->queued_bytes();
}

std::uint64_t KafkaCluster::max_queued_bytes() const {
  return guaranteed_->room().bound() + hasty_->room().bound();
}

std::string KafkaCluster::trouble() const {
  std::string trouble = guaranteed_->trouble();
  return trouble.empty() ? hasty_->trouble() : trouble;
}

std::chrono::steady_clock::time_point KafkaCluster::last_poll() const {
  return std::min(guaranteed_->last_poll(), hasty_->last_poll());
}

std::uint64_t KafkaCluster::Stop(std::chrono::steady_clock::time_point deadline) {
  known_topics_->BeginStop();
  auto hasty = std::async(std::launch::async, [&] { return hasty_->Stop(deadline); });
  std::uint64_t lost = guaranteed_->Stop(deadline);
  lost += hasty.get();
  known_topics_->Stop();
  return lost;
}

}  // namespace sluice::produce
