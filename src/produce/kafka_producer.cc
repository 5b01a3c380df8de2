#include "produce/kafka_producer.h"

#include <algorithm>
#include <future>
#include <utility>

#include "core/log.h"
#include "produce/fallback_watch.h"
#include "produce/kafka_admin.h"
#include "produce/kafka_cluster.h"
#include "produce/kafka_conf.h"

namespace sluice::produce {
namespace {

constexpr std::chrono::milliseconds kReplayFlush{1000};  // at a stop, for what is on its way

}  // namespace

KafkaProducer::KafkaProducer(const core::KafkaOptions& options, std::string_view user_agent,
                             core::Metrics& metrics)
    : options_(options), user_agent_(user_agent), metrics_(metrics) {
  const auto make = [&](KafkaTarget target) {
    return std::make_unique<KafkaCluster>(options_, target, user_agent_, metrics_);
  };
  first_ = make(KafkaTarget::kFirst);
  if (!options_.fallback.configured()) return;
  fallback_ = make(KafkaTarget::kFallback);
  watch_ = std::make_unique<FallbackWatch>(
      options_.fallback, [this](std::chrono::milliseconds longest) { return LookAtFirst(longest); },
      metrics_);
}

KafkaProducer::~KafkaProducer() { KafkaProducer::Stop(std::chrono::steady_clock::now()); }

core::Result<void> KafkaProducer::Start() {
  if (auto started = first_->Start(); !started) return started;
  if (fallback_ != nullptr) {
    if (auto started = fallback_->Start(); !started) return started;
    watch_->Start();
  }
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
  first_->SpillTo(*spool_, options.after);
  if (fallback_ != nullptr) fallback_->SpillTo(*spool_, options.after);
}

KafkaClient& KafkaProducer::client(DeliveryMode mode) const { return first_->client(mode); }

bool KafkaProducer::IsAway() const {
  return watch_ != nullptr && watch_->target() == KafkaTarget::kFallback;
}

// What is delivered proves more than an answer, and is free. A cluster that answers and delivers
// nothing is not out of reach: what it has would be missed in the other one.
FallbackSwitch::Sign KafkaProducer::LookAtFirst(std::chrono::milliseconds longest) {
  const double delivered = first_->delivered();
  if (delivered != std::exchange(delivered_before_, delivered)) return FallbackSwitch::Sign::kWell;
  if (probe_ == nullptr) {
    auto made =
        KafkaAdmin::Make(MergeKafkaEntries(options_, DeliveryMode::kGuaranteed, user_agent_));
    if (!made) {
      core::Log(core::LogLevel::kError, "kafka_admin_failed", made.error().message);
      return FallbackSwitch::Sign::kWell;  // nothing can be said against it
    }
    probe_ = std::move(*made);
  }
  return probe_->Reach(longest) ? FallbackSwitch::Sign::kWell : FallbackSwitch::Sign::kOutOfReach;
}

Topic* KafkaProducer::OpenTopic(std::string_view name) {
  KafkaTopic& topic = first_->OpenTopic(name);
  if (fallback_ != nullptr) topic.in_fallback.store(&fallback_->OpenTopic(name));
  return &topic;
}

void KafkaProducer::Produce(Topic& topic, DeliveryMode mode, const Record& record,
                            DeliverySlot* slot) {
  auto& in_first = static_cast<KafkaTopic&>(topic);
  if (IsAway()) return fallback_->Produce(*in_first.in_fallback, mode, record, slot);
  first_->Produce(in_first, mode, record, slot);
}

std::uint64_t KafkaProducer::queued_bytes() const {
  return first_->queued_bytes() + (fallback_ == nullptr ? 0 : fallback_->queued_bytes());
}

std::uint64_t KafkaProducer::max_queued_bytes() const {
  return first_->max_queued_bytes() + (fallback_ == nullptr ? 0 : fallback_->max_queued_bytes());
}

bool KafkaProducer::HasRoom(DeliveryMode mode) const {
  if (Target().HasRoom(mode)) return true;
  return spool_ != nullptr && spool_->Covers(mode) && spool_->state() == SpoolState::kOn;
}

std::chrono::seconds KafkaProducer::DrainTime(DeliveryMode mode) const {
  return Target().client(mode).room().DrainTime();
}

std::string KafkaProducer::trouble() const {
  const std::string trouble = Target().trouble();
  return trouble.empty() || !IsAway() ? trouble : "fallback cluster: " + trouble;
}

std::optional<std::string> KafkaProducer::detour() const {
  if (watch_ == nullptr) return std::nullopt;
  return watch_->Detour();
}

StopReport KafkaProducer::Stop(std::chrono::steady_clock::time_point deadline) {
  deadline = std::min(deadline, std::chrono::steady_clock::now() + options_.flush_timeout);
  if (watch_ != nullptr) watch_->BeginStop();
  if (spool_ != nullptr) spool_->StopReplay();
  std::future<std::uint64_t> elsewhere;
  if (fallback_ != nullptr)
    elsewhere = std::async(std::launch::async, [&] { return fallback_->Stop(deadline); });
  StopReport report;
  report.lost = first_->Stop(deadline);
  if (elsewhere.valid()) report.lost += elsewhere.get();
  if (watch_ != nullptr) watch_->Stop();
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
  const auto first = first_->last_poll();
  return fallback_ == nullptr ? first : std::min(first, fallback_->last_poll());
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
