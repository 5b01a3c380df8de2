#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/durability.h"
#include "core/error.h"

namespace sluice::produce {

class Delivery;

// The fate of one record. Filled by the producer that took it, exactly once. The rest may be read
// once `state` is not kPending.
struct DeliverySlot {
  enum class State : std::uint8_t { kPending, kDelivered, kFailed };

  State state() const { return fate.load(std::memory_order_acquire); }

  Delivery* owner = nullptr;
  std::atomic<State> fate{State::kPending};
  core::Durability durability = core::Durability::kNone;  // of a kDelivered one
  core::ErrorCode code = core::ErrorCode::kInternal;      // of a kFailed one
  std::string message;                                    // of a kFailed one, for a person
};

// The records of one request on their way: calls back once when the last delivery report has come.
// Filled and sealed on one thread; Complete* may be called from any; the callback runs on the
// thread of whoever completes last (possibly inside Seal). The derived class owns the records'
// bytes. Delete it only from or after the callback.
class Delivery {
 public:
  virtual ~Delivery() = default;
  Delivery() = default;
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  // Room for `slots` records, before the first Add.
  void Reserve(std::uint32_t slots) { slots_ = std::make_unique<DeliverySlot[]>(slots); }

  // The next slot, for a record that is about to be produced.
  DeliverySlot* Add() {
    DeliverySlot* slot = &slots_[used_++];
    slot->owner = this;
    pending_.fetch_add(1, std::memory_order_relaxed);
    return slot;
  }

  // No more records: from now on OnAllDone may come.
  void Seal() { Release(); }

  static void CompleteDelivered(DeliverySlot* slot, core::Durability durability) {
    slot->durability = durability;
    slot->fate.store(DeliverySlot::State::kDelivered, std::memory_order_release);
    slot->owner->Release();
  }
  static void CompleteFailed(DeliverySlot* slot, core::ErrorCode code, std::string_view message) {
    slot->code = code;
    slot->message = message;
    slot->fate.store(DeliverySlot::State::kFailed, std::memory_order_release);
    slot->owner->Release();
  }

  std::uint32_t size() const { return used_; }
  const DeliverySlot& slot(std::uint32_t i) const { return slots_[i]; }

 protected:
  // All slots are done and Seal was called. Once, on any thread; must not block or throw.
  virtual void OnAllDone() = 0;

 private:
  void Release() {
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) OnAllDone();
  }

  std::unique_ptr<DeliverySlot[]> slots_;
  std::uint32_t used_ = 0;
  std::atomic<std::uint32_t> pending_{1};  // one for the sealer
};

}  // namespace sluice::produce
