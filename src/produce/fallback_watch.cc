#include "produce/fallback_watch.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/iso_time.h"
#include "core/log.h"

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLongestPause{1000};
constexpr milliseconds kLongestLook{2000};
constexpr int kLooksOfAPeriod = 4;  // at least so many decide

prometheus::Family<prometheus::Gauge>& Targets(core::Metrics& metrics) {
  return prometheus::BuildGauge()
      .Name("sluice_kafka_target")
      .Help("1 for the cluster that new records go to, else 0")
      .Register(metrics.registry());
}

prometheus::Family<prometheus::Counter>& Switches(core::Metrics& metrics) {
  return prometheus::BuildCounter()
      .Name("sluice_kafka_target_switches_total")
      .Help("Turns from one cluster to the other, by the one that records go to since")
      .Register(metrics.registry());
}

}  // namespace

FallbackWatch::FallbackWatch(const core::KafkaFallbackOptions& options, LookFunction look,
                             core::Metrics& metrics)
    : options_(options),
      look_(std::move(look)),
      on_first_(Targets(metrics).Add({{"cluster", "first"}})),
      on_fallback_(Targets(metrics).Add({{"cluster", "fallback"}})),
      to_first_(Switches(metrics).Add({{"cluster", "first"}})),
      to_fallback_(Switches(metrics).Add({{"cluster", "fallback"}})) {
  on_first_.Set(1);
}

FallbackWatch::~FallbackWatch() { Stop(); }

void FallbackWatch::Start() {
  thread_ = std::thread([this] { Run(); });
  ::pthread_setname_np(thread_.native_handle(), "sluice-fallback");
}

void FallbackWatch::BeginStop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

void FallbackWatch::Stop() {
  BeginStop();
  if (thread_.joinable()) thread_.join();
}

void FallbackWatch::Run() {
  const milliseconds shortest = std::min(options_.after, options_.back_after);
  const milliseconds pause = std::min(kLongestPause, shortest / kLooksOfAPeriod);
  const milliseconds look = std::min(kLongestLook, shortest / 2);
  FallbackSwitch decision({options_.after, options_.back_after}, steady_clock::now());
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return stopping_; })) {
    lock.unlock();
    const bool turned = decision.Observe(look_(look), steady_clock::now());
    lock.lock();
    if (turned && !stopping_) Turn(decision.target());
  }
}

// Needs `mutex_`.
void FallbackWatch::Turn(KafkaTarget target) {
  const bool away = target == KafkaTarget::kFallback;
  since_ = core::FormatIsoTime(std::chrono::system_clock::now());
  target_.store(target, std::memory_order_relaxed);
  on_first_.Set(away ? 0 : 1);
  on_fallback_.Set(away ? 1 : 0);
  (away ? to_fallback_ : to_first_).Increment();
  core::Log(away ? core::LogLevel::kError : core::LogLevel::kInfo, "kafka_target",
            away ? "The first Kafka cluster was out of reach for kafka.fallback.after: new events "
                   "go to the fallback from now on."
                 : "The first Kafka cluster was well for kafka.fallback.back_after: new events go "
                   "there again.",
            {{"cluster", away ? "fallback" : "first"}});
}

std::string FallbackWatch::Detour() const {
  if (target() == KafkaTarget::kFirst) return {};
  const std::lock_guard lock(mutex_);
  return "since " + since_ +
         " new events go to the fallback cluster; they go to the first one again once it was well "
         "for " +
         std::to_string(options_.back_after.count()) + " ms (kafka.fallback.back_after)";
}

}  // namespace sluice::produce
