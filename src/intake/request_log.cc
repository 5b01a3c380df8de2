#include "intake/request_log.h"

#include <algorithm>

#include "core/log.h"

namespace sluice::intake {
namespace {

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view hex) { return hex.find_first_not_of('0') == std::string_view::npos; }

// Whether messages of that code may hold text that a client sent.
bool QuotesClient(core::ErrorCode code) {
  using core::ErrorCode;
  switch (code) {
    case ErrorCode::kMalformedBody:
    case ErrorCode::kBodyTooLarge:
    case ErrorCode::kMissingSchemaUri:
    case ErrorCode::kStreamMissing:
    case ErrorCode::kMessageKeyMissing:
    case ErrorCode::kRecordTooLarge:
    case ErrorCode::kTopicUnknown:
    case ErrorCode::kQueueFull:
    case ErrorCode::kDeliveryTimeout:
    case ErrorCode::kDeliveryFailed:
    case ErrorCode::kOverloaded:
    case ErrorCode::kRateLimited:
    case ErrorCode::kShuttingDown:
    case ErrorCode::kInternal:
      return false;
    case ErrorCode::kUnsupportedMediaType:
    case ErrorCode::kSchemaUriNotAllowed:
    case ErrorCode::kSchemaNotFound:
    case ErrorCode::kSchemaUnavailable:
    case ErrorCode::kSchemaUnusable:
    case ErrorCode::kStreamNotConfigured:
    case ErrorCode::kStreamSchemaMismatch:
    case ErrorCode::kStreamConfigUnavailable:
    case ErrorCode::kValidationFailed:
      return true;
  }
  return true;
}

}  // namespace

std::string_view TraceIdOf(std::string_view traceparent) {
  // version "-" trace id "-" parent id "-" flags, and more in later versions
  constexpr std::size_t kLength = 55;
  if (traceparent.size() < kLength || traceparent[2] != '-' || traceparent[35] != '-' ||
      traceparent[52] != '-') {
    return {};
  }
  const std::string_view version = traceparent.substr(0, 2);
  const std::string_view trace_id = traceparent.substr(3, 32);
  const std::string_view parent_id = traceparent.substr(36, 16);
  if (!IsHex(version) || version == "ff" || !IsHex(trace_id) || IsZero(trace_id) ||
      !IsHex(parent_id) || IsZero(parent_id) || !IsHex(traceparent.substr(53, 2))) {
    return {};
  }
  const bool longer = traceparent.size() > kLength;
  if (longer && (version == "00" || traceparent[kLength] != '-')) return {};
  return trace_id;
}

std::string_view LoggableMessage(core::ErrorCode code, std::string_view message) {
  return QuotesClient(code) && !core::LogEnabled(core::LogLevel::kDebug) ? std::string_view()
                                                                         : message;
}

std::string_view LoggableMessage(const core::Error& error) {
  return LoggableMessage(error.code, error.message);
}

}  // namespace sluice::intake
