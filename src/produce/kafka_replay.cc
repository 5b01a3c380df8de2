#include "produce/kafka_replay.h"

#include <utility>
#include <vector>

#include "produce/kafka_conf.h"

namespace sluice::produce {
namespace {

constexpr int kWholeQueue = 10'000;  // percent of the free room; the window bounds what is queued

std::vector<KafkaEntry> EntriesOf(const core::KafkaOptions& options, std::string_view user_agent) {
  std::vector<KafkaEntry> entries =
      MergeKafkaEntries(options, DeliveryMode::kGuaranteed, user_agent);
  const auto set = [&](const char* name, std::string value) {
    entries.push_back({"spool", name, std::move(value)});
  };
  set("client.id", std::string(user_agent) + "-producer-replay");
  set("message.timeout.ms", "86400000");  // a day; a record that is overdue is sent again
  set("statistics.interval.ms", "0");
  return entries;
}

}  // namespace

KafkaReplay::KafkaReplay(const core::KafkaOptions& options, std::string_view user_agent)
    : uncounted_({}, "replay"),
      unasked_(
          options.topics, EntriesOf(options, user_agent), [](KafkaTopic&) {}, uncounted_),
      client_(DeliveryMode::kGuaranteed, EntriesOf(options, user_agent),
              {.guaranteed = 100, .hasty = 100, .topic_share = kWholeQueue}, unasked_, uncounted_) {
}

KafkaReplay::~KafkaReplay() = default;

core::Result<void> KafkaReplay::Start() { return client_.Start(); }

Topic* KafkaReplay::OpenTopic(std::string_view name) {
  const std::lock_guard lock(topics_mutex_);
  auto at = topics_.find(name);
  if (at == topics_.end()) {
    at = topics_.emplace(std::string(name), std::make_unique<KafkaTopic>(name)).first;
    client_.AddTopic(*at->second);
  }
  return at->second.get();
}

void KafkaReplay::Replay(Topic& topic, const Record& record, DeliverySlot* slot) {
  client_.Produce(static_cast<KafkaTopic&>(topic), record, slot);
}

void KafkaReplay::Stop(std::chrono::steady_clock::time_point deadline) { client_.Stop(deadline); }

}  // namespace sluice::produce
