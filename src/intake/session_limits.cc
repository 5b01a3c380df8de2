#include "intake/session.h"

// The part of Session about what its client may do, and for how long.
namespace sluice::intake {

std::optional<TooFast> Session::TakeFromClient(const RateAmounts& amounts) {
  RateLimits* const rates = parts_->rates;
  if (rates == nullptr || !rates->limits_clients()) return std::nullopt;
  client_ = AddressKeyOf(ClientAddress(&head_, peer_.address, peer_.is_trusted));
  if (client_ == AddressKey{}) client_ = AddressKeyOf(peer_.address);  // the proxy said nonsense
  return rates->TakeClient(client_, amounts);
}

bool Session::RefuseTooFast(const TooFast& too_fast) {
  return Refuse(too_fast.error, too_fast.retry_after_seconds);
}

// For requests that are not about events.
bool Session::AnswerTooFast(const TooFast& too_fast) {
  parts_->metrics.CountFailure({}, {}, false, too_fast.error.code);
  AnswerProblem(429, core::ToString(too_fast.error.code), too_fast.error.message,
                "Retry-After: " + std::to_string(too_fast.retry_after_seconds) + "\r\n");
  return true;
}

}  // namespace sluice::intake
