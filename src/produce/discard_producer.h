#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "produce/producer.h"

namespace sluice::produce {

// Takes every record and throws it away: for measuring what the rest of the process costs.
// Completes inside Produce, without a lock or an allocation. Any thread.
class DiscardProducer final : public Producer {
 public:
  explicit DiscardProducer(core::Metrics& metrics) : metrics_(metrics) {}

  core::Result<void> Start() override { return {}; }
  Topic* OpenTopic(std::string_view name) override;
  void Produce(Topic& topic, DeliveryMode mode, const Record& record, DeliverySlot* slot) override {
    (void)topic, (void)mode, (void)record;
    metrics_.RecordsHanded(1);
    metrics_.RecordsDelivered(1);
    Delivery::CompleteDelivered(slot, Durability::kNone);
  }
  std::uint64_t queued_bytes() const override { return 0; }
  std::uint64_t max_queued_bytes() const override { return 1; }
  StopReport Stop(std::chrono::steady_clock::time_point) override { return {}; }

 private:
  struct DiscardTopic final : Topic {
    explicit DiscardTopic(std::string_view name) : Topic(name) {}
  };

  core::Metrics& metrics_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<DiscardTopic>, std::less<>> topics_;
};

}  // namespace sluice::produce
