#include "intake/rate_limits.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

namespace sluice::intake {
namespace {

constexpr int kLongestRetrySeconds = 3600;
constexpr std::array<std::string_view, kRateKindCount> kKinds = {"requests", "events", "bytes"};

int WholeSeconds(std::chrono::nanoseconds wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  return static_cast<int>(std::clamp<std::int64_t>(seconds, 1, kLongestRetrySeconds));
}

std::uint64_t RandomSalt() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

}  // namespace

AddressPlace& AddressPlace::operator=(AddressPlace&& other) noexcept {
  if (this != &other) {
    Free();
    limits_ = std::exchange(other.limits_, nullptr);
    key_ = other.key_;
  }
  return *this;
}

void AddressPlace::Free() {
  if (limits_ != nullptr) std::exchange(limits_, nullptr)->Leave(key_);
}

RateLimits::RateLimits(const core::LimitOptions& options, core::Metrics& metrics)
    : clients_(options.client, options.rate_burst, options.rate_clients),
      streams_(options.stream, options.rate_burst, options.rate_clients),
      salt_(RandomSalt()),
      max_connections_(options.max_connections_per_address) {
  AddMetrics(metrics);
}

void RateLimits::AddMetrics(core::Metrics& metrics) {
  auto& refused = prometheus::BuildCounter()
                      .Name("sluice_rate_limited_total")
                      .Help("Requests and events refused for a rate, by whose and what rate")
                      .Register(metrics.registry());
  for (Scope* scope : {&client_scope_, &stream_scope_}) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      scope->refused[i] =
          &refused.Add({{"of", std::string(scope->who)}, {"kind", std::string(kKinds[i])}});
    }
  }
  connections_refused_ = &prometheus::BuildCounter()
                              .Name("sluice_connections_refused_by_address_total")
                              .Help("Connections above limits.max_connections_per_address")
                              .Register(metrics.registry())
                              .Add({});
  metrics.AddGauge("sluice_rate_buckets", "Clients and streams whose rates are remembered",
                   [this] { return static_cast<double>(clients_.size() + streams_.size()); });
}

void RateLimits::Configure(const core::LimitOptions& options) {
  clients_.Configure(options.client, options.rate_burst);
  streams_.Configure(options.stream, options.rate_burst);
  max_connections_ = options.max_connections_per_address;
}

TooFast RateLimits::Tell(const Scope& scope, const RateRefusal& refusal) const {
  const auto kind = static_cast<std::size_t>(refusal.kind);
  scope.refused[kind]->Increment();
  TooFast told;
  told.retry_after_seconds = WholeSeconds(refusal.wait);
  told.error.code = core::ErrorCode::kRateLimited;
  told.error.message = "Too many ";
  told.error.message.append(kKinds[kind]).append(" a second of this ").append(scope.who);
  told.error.message.append(" (").append(scope.section).append(kKinds[kind]).append("); wait ");
  told.error.message += std::to_string(told.retry_after_seconds) + " s.";
  return told;
}

std::optional<TooFast> RateLimits::TakeClient(const AddressKey& client,
                                              const RateAmounts& amounts) {
  if (client == AddressKey{}) return std::nullopt;
  const auto refusal = clients_.Take(client, amounts, RateTable::Clock::now());
  if (!refusal) return std::nullopt;
  return Tell(client_scope_, *refusal);
}

std::optional<TooFast> RateLimits::TakeStream(std::string_view stream, const RateAmounts& amounts) {
  const auto refusal = streams_.Take(StreamKey(stream), amounts, RateTable::Clock::now());
  if (!refusal) return std::nullopt;
  return Tell(stream_scope_, *refusal);
}

// Two hashes of which nobody outside knows the salt: names cannot be made to share a bucket.
RateTable::Key RateLimits::StreamKey(std::string_view stream) const {
  const std::hash<std::string> hash;
  std::string salted(reinterpret_cast<const char*>(&salt_), sizeof(salt_));
  salted += stream;
  const std::size_t first = hash(salted);
  salted += '\n';
  const std::size_t second = hash(salted);
  RateTable::Key key;
  std::memcpy(key.data(), &first, sizeof(first));
  std::memcpy(key.data() + sizeof(first), &second, sizeof(second));
  return key;
}

std::size_t RateLimits::KeyHash::operator()(const AddressKey& key) const {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(key.data()), key.size()});
}

std::optional<AddressPlace> RateLimits::Connect(const AddressKey& address) {
  const int max = max_connections_.load(std::memory_order_relaxed);
  if (max == 0 || address == AddressKey{}) return AddressPlace();
  const std::lock_guard lock(mutex_);
  int& count = connections_[address];
  if (count >= max) {
    connections_refused_->Increment();
    return std::nullopt;
  }
  ++count;
  return AddressPlace(this, address);
}

void RateLimits::Leave(const AddressKey& address) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(address);
  if (--found->second == 0) connections_.erase(found);
}

}  // namespace sluice::intake
