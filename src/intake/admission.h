#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/config.h"
#include "core/error.h"

namespace sluice::intake {

class AdmissionControl;

// The right to have one request in flight, and the bytes charged for it; gives both back when it
// goes. Movable.
class Permit {
 public:
  Permit() = default;
  Permit(Permit&& other) noexcept
      : control_(std::exchange(other.control_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        requests_(std::exchange(other.requests_, 0)) {}
  Permit& operator=(Permit&& other) noexcept;
  ~Permit() { Free(); }

  explicit operator bool() const { return control_ != nullptr; }

  // Charges `bytes` more against the memory budget. False: there is no room, nothing was charged.
  // Any thread.
  bool Charge(std::uint64_t bytes);
  // Gives `bytes` back early.
  void Refund(std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }
  // Does not count as in flight any more, the bytes do: for a request that nobody waits for.
  void LeavePlace();
  void Free();

 private:
  friend class AdmissionControl;
  Permit(AdmissionControl* control, int requests) : control_(control), requests_(requests) {}
  AdmissionControl* control_ = nullptr;
  std::uint64_t bytes_ = 0;
  int requests_ = 0;  // counted as in flight: 1, or 0 for memory only
};

// Decides, before a body is read, whether a request may come in; cheapest check first. Any thread.
class AdmissionControl {
 public:
  explicit AdmissionControl(const core::LimitOptions& options) { Use(options); }

  // Goes by these bounds from now on; what is in already stays. Any thread.
  void Use(const core::LimitOptions& options);

  // kShuttingDown while draining; kOverloaded with the name of the limit to raise when in-flight
  // requests or memory are used up. `declared_bytes` is the Content-Length, or 0.
  core::Result<Permit> Admit(std::uint64_t declared_bytes);

  // Memory only, for an answer that a slow client makes wait; also while draining. Empty if there
  // is no room.
  Permit Reserve(std::uint64_t bytes);

  // The error for a Charge that failed.
  core::Error MemoryError(std::uint64_t bytes) const;

  // A connection was accepted: false if there are max_connections already (then do not call
  // Disconnected).
  bool Connected();
  void Disconnected();

  // Answers end their connections from now on; what still comes on open ones is taken. For a
  // process whose successor has the listening sockets.
  void StartLeaving() { RaiseTo(Phase::kLeaving); }
  // Nothing is taken any more.
  void StartDrain() { RaiseTo(Phase::kDraining); }
  // Also true while draining.
  bool leaving() const { return phase_.load(std::memory_order_acquire) != Phase::kOpen; }
  bool draining() const { return phase_.load(std::memory_order_acquire) == Phase::kDraining; }

  int in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  int connections() const { return connections_.load(std::memory_order_relaxed); }

 private:
  friend class Permit;
  enum class Phase : std::uint8_t { kOpen, kLeaving, kDraining };
  void RaiseTo(Phase phase) {
    Phase before = phase_.load();
    while (before < phase && !phase_.compare_exchange_weak(before, phase)) {
    }
  }
  bool ChargeBytes(std::uint64_t bytes);
  void RefundBytes(std::uint64_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::atomic<int> max_in_flight_{0};
  std::atomic<int> max_connections_{0};
  std::atomic<std::uint64_t> max_bytes_{0};
  std::atomic<Phase> phase_{Phase::kOpen};
  std::atomic<int> in_flight_{0};
  std::atomic<int> connections_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace sluice::intake
