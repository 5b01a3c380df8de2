#include "intake/admission.h"

#include <string>

namespace sluice::intake {
namespace {

constexpr std::uint64_t kRequestBytes = 1024;

}  // namespace

Permit& Permit::operator=(Permit&& other) noexcept {
  if (this != &other) {
    Free();
    control_ = std::exchange(other.control_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    requests_ = std::exchange(other.requests_, 0);
  }
  return *this;
}

bool Permit::Charge(std::uint64_t bytes) {
  if (control_ == nullptr || !control_->ChargeBytes(bytes)) return false;
  bytes_ += bytes;
  return true;
}

void Permit::Refund(std::uint64_t bytes) {
  if (control_ == nullptr) return;
  if (bytes > bytes_) bytes = bytes_;
  control_->RefundBytes(bytes);
  bytes_ -= bytes;
}

void Permit::LeavePlace() {
  if (control_ == nullptr) return;
  control_->in_flight_.fetch_sub(requests_, std::memory_order_relaxed);
  requests_ = 0;
  // What it costs besides its bytes was bounded by the number of places until now.
  Charge(kRequestBytes);
}

void Permit::Free() {
  if (control_ == nullptr) return;
  control_->RefundBytes(bytes_);
  control_->in_flight_.fetch_sub(requests_, std::memory_order_relaxed);
  control_ = nullptr;
  bytes_ = 0;
  requests_ = 0;
}

void AdmissionControl::Use(const core::LimitOptions& options) {
  max_in_flight_.store(options.max_in_flight_requests, std::memory_order_relaxed);
  max_connections_.store(options.max_connections, std::memory_order_relaxed);
  max_bytes_.store(options.memory_bytes, std::memory_order_relaxed);
}

core::Result<Permit> AdmissionControl::Admit(std::uint64_t declared_bytes) {
  if (draining()) {
    return core::Error{core::ErrorCode::kShuttingDown, "The service is shutting down."};
  }
  // Adds first and takes back: two threads cannot both take the last place.
  if (in_flight_.fetch_add(1, std::memory_order_relaxed) >=
      max_in_flight_.load(std::memory_order_relaxed)) {
    in_flight_.fetch_sub(1, std::memory_order_relaxed);
    return core::Error{core::ErrorCode::kOverloaded,
                       "Too many requests in flight (limits.max_in_flight_requests is " +
                           std::to_string(max_in_flight_) + ")."};
  }
  Permit permit(this, 1);
  if (!permit.Charge(declared_bytes)) return MemoryError(declared_bytes);
  return permit;
}

Permit AdmissionControl::Reserve(std::uint64_t bytes) {
  Permit permit(this, 0);
  if (!permit.Charge(bytes)) return {};
  return permit;
}

core::Error AdmissionControl::MemoryError(std::uint64_t bytes) const {
  return {core::ErrorCode::kOverloaded, "No memory left for " + std::to_string(bytes) +
                                            " bytes of this request (limits.memory_bytes is " +
                                            std::to_string(max_bytes_) + ")."};
}

bool AdmissionControl::Connected() {
  if (connections_.fetch_add(1, std::memory_order_relaxed) >=
      max_connections_.load(std::memory_order_relaxed)) {
    connections_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  return true;
}

void AdmissionControl::Disconnected() { connections_.fetch_sub(1, std::memory_order_relaxed); }

bool AdmissionControl::ChargeBytes(std::uint64_t bytes) {
  const std::uint64_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (before + bytes <= max_bytes_.load(std::memory_order_relaxed) && before + bytes >= before)
    return true;
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

}  // namespace sluice::intake
