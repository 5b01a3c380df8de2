#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <string>

#include "produce/delivery.h"
#include "produce/producer.h"

namespace sluice::produce {

// The records of one made-up request, and a wait for their delivery reports.
class WaitingDelivery final : public Delivery {
 public:
  explicit WaitingDelivery(std::uint32_t slots) { Reserve(slots); }

  void Send(Producer& producer, Topic& topic, std::string value,
            DeliveryMode mode = DeliveryMode::kGuaranteed) {
    values_.push_back(std::move(value));
    producer.Produce(topic, mode, {.value = values_.back(), .key = {}}, Add());
  }

  void Send(Producer& producer, Topic& topic, DeliveryMode mode, const Record& record) {
    producer.Produce(topic, mode, record, Add());
  }

  // No more records; false if they are not all done in time.
  bool Wait(std::chrono::milliseconds longest = std::chrono::seconds(30)) {
    Seal();
    return done_.get_future().wait_for(longest) == std::future_status::ready;
  }

  // "delivered" or "<code>: <message>".
  std::string Fate(std::uint32_t i) const {
    if (slot(i).state() == DeliverySlot::State::kDelivered) return "delivered";
    return std::string(core::ToString(slot(i).code)) + ": " + slot(i).message;
  }

 private:
  void OnAllDone() override { done_.set_value(); }

  std::deque<std::string> values_;
  std::promise<void> done_;
};

}  // namespace sluice::produce
