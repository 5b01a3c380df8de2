#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "produce/producer.h"

namespace sluice::test {

// Keeps what it is given. Delivers at once, or holds the slots until the test completes them. Any
// thread.
class RecordingProducer final : public produce::Producer {
 public:
  struct Taken {
    std::string topic;
    std::string value;
    std::string key;
    bool has_key;
    std::int64_t timestamp_ms;
    produce::DeliveryMode mode;
    produce::DeliverySlot* slot;
  };

  bool hold = false;  // set before use
  bool room = true;

  core::Result<void> Start() override { return {}; }
  produce::Topic* OpenTopic(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    auto& topic = topics_[std::string(name)];
    if (!topic) topic = std::make_unique<NamedTopic>(name);
    return topic.get();
  }
  void Produce(produce::Topic& topic, produce::DeliveryMode mode, const produce::Record& record,
               produce::DeliverySlot* slot) override {
    {
      const std::lock_guard lock(mutex_);
      taken_.push_back({topic.name(), std::string(record.value), std::string(record.key),
                        record.has_key, record.timestamp_ms, mode, slot});
    }
    if (!hold) produce::Delivery::CompleteDelivered(slot, produce::Durability::kKafka);
  }
  bool HasRoom(produce::DeliveryMode) const override { return room; }
  std::chrono::seconds DrainTime(produce::DeliveryMode mode) const override {
    return std::chrono::seconds(mode == produce::DeliveryMode::kHasty ? 17 : 23);
  }
  std::uint64_t queued_bytes() const override { return 0; }
  std::uint64_t max_queued_bytes() const override { return 1; }
  produce::StopReport Stop(std::chrono::steady_clock::time_point) override { return {}; }

  // What was taken since the last call.
  std::vector<Taken> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(taken_, {});
  }
  std::vector<Taken> taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  struct NamedTopic final : produce::Topic {
    explicit NamedTopic(std::string_view name) : Topic(name) {}
  };
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<NamedTopic>> topics_;
  std::vector<Taken> taken_;
};

}  // namespace sluice::test
