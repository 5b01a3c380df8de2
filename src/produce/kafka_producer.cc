#include "produce/kafka_producer.h"

#include <algorithm>
#include <future>

#include "core/log.h"
#include "produce/kafka_client.h"
#include "produce/kafka_conf.h"
#include "produce/kafka_topic.h"
#include "produce/kafka_topics.h"

namespace sluice::produce {
namespace {

constexpr std::size_t kMaxTopicBytes = 249;
constexpr std::chrono::milliseconds kReplayFlush{1000};  // at a stop, for what is on its way

bool IsLegalTopic(std::string_view name) {
  if (name.empty() || name.size() > kMaxTopicBytes || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace

KafkaProducer::KafkaProducer(const core::KafkaOptions& options, std::string_view user_agent,
                             core::Metrics& metrics)
    : options_(options),
      user_agent_(user_agent),
      metrics_(metrics),
      hasty_percent_(options.admit.hasty) {
  known_topics_ = std::make_unique<KafkaTopics>(
      options.topics, MergeKafkaEntries(options, DeliveryMode::kGuaranteed, user_agent),
      [this](KafkaTopic& topic) {
        guaranteed_->RefreshTopic(topic);
        hasty_->RefreshTopic(topic);
      },
      metrics);
  const auto make = [&](DeliveryMode mode) {
    return std::make_unique<KafkaClient>(mode, MergeKafkaEntries(options, mode, user_agent),
                                         options.admit, *known_topics_, metrics);
  };
  guaranteed_ = make(DeliveryMode::kGuaranteed);
  hasty_ = make(DeliveryMode::kHasty);
}

KafkaProducer::~KafkaProducer() { KafkaProducer::Stop(std::chrono::steady_clock::now()); }

core::Result<void> KafkaProducer::Start() {
  if (auto started = guaranteed_->Start(); !started) return started;
  if (auto started = hasty_->Start(); !started) return started;
  known_topics_->Start();
  if (spool_ == nullptr) return {};
  if (auto started = replay_->Start(); !started) return started;
  spool_->Start(*replay_);
  return {};
}

void KafkaProducer::UseSpool(const core::SpoolOptions& options, const std::string& folder,
                             std::unique_ptr<FileOps> ops) {
  spool_ops_ = std::move(ops);
  replay_ = std::make_unique<KafkaReplay>(options_, user_agent_);
  spool_ = std::make_unique<Spool>(options, folder, *spool_ops_, metrics_);
  guaranteed_spill_ =
      std::make_unique<KafkaSpill>(*spool_, DeliveryMode::kGuaranteed, options.after);
  hasty_spill_ = std::make_unique<KafkaSpill>(*spool_, DeliveryMode::kHasty, options.after);
  guaranteed_->SpillTo(*guaranteed_spill_);
  hasty_->SpillTo(*hasty_spill_);
}

KafkaClient& KafkaProducer::client(DeliveryMode mode) const {
  return mode == DeliveryMode::kGuaranteed ? *guaranteed_ : *hasty_;
}

Topic* KafkaProducer::OpenTopic(std::string_view name) {
  const std::lock_guard lock(topics_mutex_);
  auto at = topics_.find(name);
  if (at == topics_.end()) {
    at = topics_.emplace(std::string(name), std::make_unique<KafkaTopic>(name)).first;
    at->second->legal = IsLegalTopic(name);
    if (at->second->legal) {
      guaranteed_->AddTopic(*at->second);
      hasty_->AddTopic(*at->second);
      known_topics_->Add(*at->second);
    }
  }
  return at->second.get();
}

void KafkaProducer::Produce(Topic& topic, DeliveryMode mode, const Record& record,
                            DeliverySlot* slot) {
  auto& kafka_topic = static_cast<KafkaTopic&>(topic);
  if (!kafka_topic.legal) {
    metrics_.RecordsHanded(1);
    metrics_.RecordsFailed(1);
    return Delivery::CompleteFailed(
        slot, core::ErrorCode::kStreamNotConfigured,
        "the stream's topic " + kafka_topic.name() +
            " is no legal Kafka topic name (letters, digits, '.', '_', '-', at most 249)");
  }
  client(mode).Produce(kafka_topic, record, slot);
}

std::uint64_t KafkaProducer::queued_bytes() const {
  return guaranteed_->queued_bytes() + hasty_->queued_bytes();
}

std::uint64_t KafkaProducer::max_queued_bytes() const {
  return guaranteed_->room().bound() + hasty_->room().bound();
}

bool KafkaProducer::HasRoom(DeliveryMode mode) const {
  // Hasty events would only add to what brokers cannot take from the guaranteed ones.
  const KafkaRoom& room = client(mode).room();
  const bool others_first =
      mode == DeliveryMode::kHasty && guaranteed_->room().IsFilledTo(hasty_percent_);
  if (!others_first && room.bytes() < room.admitted_bytes()) return true;
  return spool_ != nullptr && spool_->Covers(mode) && spool_->state() == SpoolState::kOn;
}

std::chrono::seconds KafkaProducer::DrainTime(DeliveryMode mode) const {
  return client(mode).room().DrainTime();
}

std::string KafkaProducer::trouble() const {
  std::string trouble = guaranteed_->trouble();
  return trouble.empty() ? hasty_->trouble() : trouble;
}

StopReport KafkaProducer::Stop(std::chrono::steady_clock::time_point deadline) {
  deadline = std::min(deadline, std::chrono::steady_clock::now() + options_.flush_timeout);
  known_topics_->BeginStop();
  if (spool_ != nullptr) spool_->StopReplay();
  auto hasty = std::async(std::launch::async, [&] { return hasty_->Stop(deadline); });
  StopReport report;
  report.lost = guaranteed_->Stop(deadline);
  report.lost += hasty.get();
  known_topics_->Stop();
  if (spool_ == nullptr) return report;
  replay_->Stop(std::min(deadline, std::chrono::steady_clock::now() + kReplayFlush));
  const Spool::Report kept = spool_->Finish(std::chrono::steady_clock::now() + kReplayFlush);
  report.lost += kept.lost;
  report.spooled = kept.waiting;
  return report;
}

SpoolState KafkaProducer::spool_state() const {
  return spool_ == nullptr ? SpoolState::kOff : spool_->state();
}

std::uint64_t KafkaProducer::spool_waiting() const {
  return spool_ == nullptr ? 0 : spool_->waiting();
}

std::chrono::steady_clock::time_point KafkaProducer::last_poll() const {
  return std::min(guaranteed_->last_poll(), hasty_->last_poll());
}

std::string KafkaProducer::spool_trouble() const {
  return spool_ == nullptr ? std::string() : spool_->trouble();
}

core::Result<std::unique_ptr<Producer>> MakeKafkaProducer(const core::OutputOptions& output,
                                                          std::string_view user_agent,
                                                          core::Metrics& metrics) {
  const core::KafkaOptions& options = output.kafka;
  if (auto checked = CheckKafkaConf(options); !checked) return checked.error();
  for (const std::string& entry : IgnoredKafkaEntries(options)) {
    core::Log(core::LogLevel::kInfo, "setting_ignored",
              entry + " is for the original's Kafka client and has no meaning here");
  }
  for (DeliveryMode mode : {DeliveryMode::kGuaranteed, DeliveryMode::kHasty}) {
    for (const KafkaEntry& entry : MergeKafkaEntries(options, mode, user_agent)) {
      if (entry.name != "enable.idempotence" || entry.value == "true") continue;
      core::Log(core::LogLevel::kWarn, "kafka_not_idempotent",
                "idempotence is off, as kafka.conf has it (acks, enable.idempotence): a retry may "
                "write a record twice or out of order",
                {{"producer_type", mode == DeliveryMode::kGuaranteed ? "guaranteed" : "hasty"}});
    }
  }
  auto producer = std::make_unique<KafkaProducer>(options, user_agent, metrics);
  if (output.spool.mode != core::SpoolMode::kOff) {
    const std::string& dir = output.spool.dir;
    producer->UseSpool(output.spool, dir.empty() ? output.data_dir + "/spool" : dir,
                       MakePosixFileOps());
  }
  return std::unique_ptr<Producer>(std::move(producer));
}

}  // namespace sluice::produce
