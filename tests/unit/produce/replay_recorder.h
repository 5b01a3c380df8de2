#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "produce/spool_replayer.h"

namespace sluice::produce {

// A target of replays that delivers at once and remembers what it was given, or does what `decide`
// says. Any thread.
class ReplayRecorder final : public ReplayTarget {
 public:
  enum class Decision { kDeliver, kTimeOut, kTooLarge, kRefuse };

  std::function<Decision(const std::string& value)> decide;  // set before use

  Topic* OpenTopic(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    auto& topic = topics_[std::string(name)];
    if (topic == nullptr) topic = std::make_unique<NamedTopic>(name);
    return topic.get();
  }

  void Replay(Topic& topic, const Record& record, DeliverySlot* slot) override {
    const std::string value(record.value);
    switch (decide ? decide(value) : Decision::kDeliver) {
      case Decision::kDeliver:
        break;
      case Decision::kTimeOut:
        return Delivery::CompleteFailed(slot, core::ErrorCode::kDeliveryTimeout, "late");
      case Decision::kTooLarge:
        return Delivery::CompleteFailed(slot, core::ErrorCode::kRecordTooLarge, "too large");
      case Decision::kRefuse:
        return Delivery::CompleteFailed(slot, core::ErrorCode::kDeliveryFailed, "not allowed");
    }
    {
      const std::lock_guard lock(mutex_);
      delivered_.push_back(topic.name() + ' ' +
                           (record.has_key ? std::string(record.key) + '=' : std::string()) +
                           value);
    }
    Delivery::CompleteDelivered(slot, Durability::kKafka);
  }

  // "topic value" or "topic key=value", in order.
  std::vector<std::string> delivered() const {
    const std::lock_guard lock(mutex_);
    return delivered_;
  }

 private:
  struct NamedTopic final : Topic {
    explicit NamedTopic(std::string_view name) : Topic(name) {}
  };
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<NamedTopic>> topics_;
  std::vector<std::string> delivered_;
};

}  // namespace sluice::produce
