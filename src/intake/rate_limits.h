#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/config.h"
#include "core/error.h"
#include "core/metrics.h"
#include "intake/client_address.h"
#include "intake/rate_table.h"

namespace sluice::intake {

// A request or event that came too soon: the error that names the limit, and after how many whole
// seconds the same would be taken.
struct TooFast {
  core::Error error;
  int retry_after_seconds = 1;
};

class RateLimits;

// One connection of an address, as long as it is open. Movable.
class AddressPlace {
 public:
  AddressPlace() = default;
  AddressPlace(AddressPlace&& other) noexcept
      : limits_(std::exchange(other.limits_, nullptr)), key_(other.key_) {}
  AddressPlace& operator=(AddressPlace&& other) noexcept;
  ~AddressPlace() { Free(); }
  void Free();

 private:
  friend class RateLimits;
  AddressPlace(RateLimits* limits, const AddressKey& key) : limits_(limits), key_(key) {}
  RateLimits* limits_ = nullptr;
  AddressKey key_{};
};

// What one client and one stream may do in a second, and how many connections one address may
// have, as configured (limits.client.*, limits.stream.*, limits.max_connections_per_address). All
// off by default. Any thread.
class RateLimits {
 public:
  RateLimits(const core::LimitOptions& options, core::Metrics& metrics);

  // Other limits from now on; `limits.rate_clients` stays.
  void Configure(const core::LimitOptions& options);

  // Whether there is anything to ask for: one relaxed load each.
  bool limits_clients() const { return clients_.any(); }
  bool limits_streams() const { return streams_.any(); }

  // Takes `amounts` from the client's or the stream's bucket, or says what is too much and counts
  // it. A client without an address is not limited.
  std::optional<TooFast> TakeClient(const AddressKey& client, const RateAmounts& amounts);
  std::optional<TooFast> TakeStream(std::string_view stream, const RateAmounts& amounts);

  // A place for a further connection of the address; nothing if it has its most already.
  std::optional<AddressPlace> Connect(const AddressKey& address);

 private:
  friend class AddressPlace;
  struct KeyHash {
    std::size_t operator()(const AddressKey& key) const;
  };
  struct Scope {
    std::string_view section;  // of the keys
    std::string_view who;
    std::array<prometheus::Counter*, kRateKindCount> refused{};
  };

  RateTable::Key StreamKey(std::string_view stream) const;
  TooFast Tell(const Scope& scope, const RateRefusal& refusal) const;
  void Leave(const AddressKey& address);
  void AddMetrics(core::Metrics& metrics);

  RateTable clients_;
  RateTable streams_;
  Scope client_scope_{"limits.client.", "client", {}};
  Scope stream_scope_{"limits.stream.", "stream", {}};
  prometheus::Counter* connections_refused_ = nullptr;
  const std::uint64_t salt_;  // names of streams come from clients
  std::atomic<int> max_connections_{0};
  std::mutex mutex_;  // guards connections_
  std::unordered_map<AddressKey, int, KeyHash> connections_;
};

}  // namespace sluice::intake
