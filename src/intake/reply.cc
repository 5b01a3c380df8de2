#include "intake/reply.h"

#include <algorithm>

#include "core/json_text.h"

namespace sluice::intake {
namespace {

// Long enough for a broker to come back from a short break, short enough that a proxy's own retry
// is still useful.
constexpr int kRetryAfterSeconds = 2;

void AppendContext(const EventFailure& failure, std::string& out) {
  out += "\"context\":{";
  if (failure.invalid) {
    out += "\"errors\":";
    out += failure.errors_json;
    out += ",\"errorsText\":";
    core::AppendJsonString(out, failure.message);
  } else {
    out += "\"message\":";
    core::AppendJsonString(out, failure.message);
  }
  out += ",\"code\":\"";
  out += core::ToString(failure.code);
  out += "\"}";
}

void AppendFailure(const EventFailure& failure, std::string& out) {
  out +=
      failure.invalid ? "{\"status\":\"invalid\",\"event\":" : "{\"status\":\"error\",\"event\":";
  out += failure.event_json;
  out += ',';
  AppendContext(failure, out);
  out += '}';
}

enum class Kind : std::uint8_t { kInvalid, kError };

void AppendList(std::span<const EventFailure* const> failures, Kind kind, std::string& out) {
  out += '[';
  bool first = true;
  for (const EventFailure* failure : failures) {
    if (failure->invalid != (kind == Kind::kInvalid)) continue;
    if (!first) out += ',';
    first = false;
    AppendFailure(*failure, out);
  }
  out += ']';
}

int StatusOfRetry(core::ErrorCode code) {
  return code == core::ErrorCode::kRateLimited ? 429 : 503;
}

// Of a request in which no event was accepted and some failed with an error: what may pass comes
// first, since then a retry can still help; a defect of ours only shows if nothing else is the
// matter. 429 only where nothing else may pass: it tells the sender to slow down.
int StatusOfErrors(std::span<const EventFailure* const> failures) {
  int status = 0;
  for (const EventFailure* failure : failures) {
    switch (RemedyOf(*failure)) {
      case core::Remedy::kRetryLater:
        if (StatusOfRetry(failure->code) == 503) return 503;
        status = 429;
        break;
      case core::Remedy::kFixServer:
        if (status != 429) status = 500;
        break;
      case core::Remedy::kFixRequest:
        if (status == 0) status = 400;
        break;
    }
  }
  return status;
}

// Seconds until the last of the events that may pass can.
int RetryAfter(std::span<const EventFailure* const> failures, int status) {
  int seconds = status == 503 ? kRetryAfterSeconds : 1;
  for (const EventFailure* failure : failures) {
    seconds = std::max(seconds, failure->retry_after_seconds);
  }
  return seconds;
}

int StatusOfFailedRequest(core::ErrorCode code) {
  if (code == core::ErrorCode::kBodyTooLarge) return 413;
  if (code == core::ErrorCode::kUnsupportedMediaType) return 415;
  switch (core::RemedyOf(code)) {
    case core::Remedy::kFixRequest:
      return 400;
    case core::Remedy::kRetryLater:
      return StatusOfRetry(code);
    case core::Remedy::kFixServer:
      return 500;
  }
  return 500;
}

// A message as it may stand in a status line: printable, and not longer than clients log.
std::string AsReason(std::string_view message) {
  std::string reason(message.substr(0, 200));
  for (char& c : reason) {
    if (c < ' ' || c > '~') c = '?';
  }
  return reason;
}

// What a client sends above its rate is refused: nothing of ours failed, although it may pass
// later.
core::Disposition DispositionOf(core::Remedy remedy, core::ErrorCode code) {
  const bool refused = remedy == core::Remedy::kFixRequest || code == core::ErrorCode::kRateLimited;
  return refused ? core::Disposition::kRefused : core::Disposition::kFailed;
}

}  // namespace

core::Remedy RemedyOf(const EventFailure& failure) {
  const core::Remedy remedy = core::RemedyOf(failure.code);
  return failure.is_final && remedy == core::Remedy::kRetryLater ? core::Remedy::kFixRequest
                                                                 : remedy;
}

core::Disposition DispositionOf(core::ErrorCode code) {
  return DispositionOf(core::RemedyOf(code), code);
}

core::Disposition DispositionOf(const EventFailure& failure) {
  return DispositionOf(RemedyOf(failure), failure.code);
}

IngestReply ReplyToEvents(std::uint32_t events, std::span<const EventFailure* const> failures,
                          produce::Durability durability) {
  IngestReply reply;
  reply.events = events;
  if (failures.empty()) {
    reply.status = 201;
    reply.durability = durability;
    return reply;
  }
  std::uint32_t invalid = 0;
  for (const EventFailure* failure : failures) invalid += failure->invalid ? 1 : 0;
  const auto failed = static_cast<std::uint32_t>(failures.size());
  const std::uint32_t errored = failed - invalid;
  const std::string of_all = " out of " + std::to_string(events) + " events ";
  if (invalid == events) {
    reply.status = 400;
    reply.reason = std::to_string(invalid) + of_all + "were invalid and not accepted.";
    reply.body = "{\"invalid\":";
    AppendList(failures, Kind::kInvalid, reply.body);
    reply.body += '}';
    return reply;
  }
  const std::string counts =
      "(" + std::to_string(invalid) + " invalid and " + std::to_string(errored) + " errored).";
  if (failed < events) {
    reply.status = 207;
    reply.durability = durability;
    reply.reason = std::to_string(events - failed) + of_all + "were accepted, but " +
                   std::to_string(failed) + " failed " + counts;
  } else {
    reply.status = StatusOfErrors(failures);
    reply.reason =
        std::to_string(failed) + of_all + "had failures and were not accepted. " + counts;
    if (reply.status == 503 || reply.status == 429) {
      reply.retry_after_seconds = RetryAfter(failures, reply.status);
    }
  }
  reply.body = "{\"invalid\":";
  AppendList(failures, Kind::kInvalid, reply.body);
  reply.body += ",\"error\":";
  AppendList(failures, Kind::kError, reply.body);
  reply.body += '}';
  return reply;
}

IngestReply ReplyToHasty(std::uint32_t events) {
  IngestReply reply;
  reply.status = 202;
  reply.events = events;
  reply.reason = std::to_string(events) + " events hastily received.";
  return reply;
}

IngestReply ReplyToFailedRequest(const core::Error& error) {
  IngestReply reply;
  reply.status = StatusOfFailedRequest(error.code);
  reply.reason = AsReason(error.message);
  EventFailure failure;
  failure.code = error.code;
  failure.event_json = "{}";
  failure.message = error.message;
  reply.body = "{\"invalid\":[],\"error\":[";
  AppendFailure(failure, reply.body);
  reply.body += "]}";
  if (reply.status == 503 || reply.status == 429) reply.retry_after_seconds = kRetryAfterSeconds;
  return reply;
}

IngestReply ReplyToEmptyBody() {
  IngestReply reply;
  reply.status = 400;
  reply.reason = "Request body was empty. Must provide JSON encoded events.";
  return reply;
}

}  // namespace sluice::intake
