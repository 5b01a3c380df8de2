#include "core/error.h"

namespace sluice::core {

std::string_view ToString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kMalformedBody:
      return "malformed_body";
    case ErrorCode::kBodyTooLarge:
      return "body_too_large";
    case ErrorCode::kUnsupportedMediaType:
      return "unsupported_media_type";
    case ErrorCode::kMissingSchemaUri:
      return "missing_schema_uri";
    case ErrorCode::kSchemaUriNotAllowed:
      return "schema_uri_not_allowed";
    case ErrorCode::kSchemaNotFound:
      return "schema_not_found";
    case ErrorCode::kSchemaUnavailable:
      return "schema_unavailable";
    case ErrorCode::kSchemaUnusable:
      return "schema_unusable";
    case ErrorCode::kStreamMissing:
      return "stream_missing";
    case ErrorCode::kStreamNotConfigured:
      return "stream_not_configured";
    case ErrorCode::kStreamSchemaMismatch:
      return "stream_schema_mismatch";
    case ErrorCode::kStreamConfigUnavailable:
      return "stream_config_unavailable";
    case ErrorCode::kValidationFailed:
      return "validation_failed";
    case ErrorCode::kMessageKeyMissing:
      return "message_key_missing";
    case ErrorCode::kRecordTooLarge:
      return "record_too_large";
    case ErrorCode::kTopicUnknown:
      return "topic_unknown";
    case ErrorCode::kQueueFull:
      return "queue_full";
    case ErrorCode::kDeliveryTimeout:
      return "delivery_timeout";
    case ErrorCode::kDeliveryFailed:
      return "delivery_failed";
    case ErrorCode::kOverloaded:
      return "overloaded";
    case ErrorCode::kRateLimited:
      return "rate_limited";
    case ErrorCode::kShuttingDown:
      return "shutting_down";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";  // not a member of the enum: memory was damaged
}

Remedy RemedyOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kMalformedBody:
    case ErrorCode::kBodyTooLarge:
    case ErrorCode::kUnsupportedMediaType:
    case ErrorCode::kMissingSchemaUri:
    case ErrorCode::kSchemaUriNotAllowed:
    case ErrorCode::kSchemaNotFound:
    case ErrorCode::kSchemaUnusable:
    case ErrorCode::kStreamMissing:
    case ErrorCode::kStreamNotConfigured:
    case ErrorCode::kStreamSchemaMismatch:
    case ErrorCode::kValidationFailed:
    case ErrorCode::kMessageKeyMissing:
    case ErrorCode::kRecordTooLarge:
      return Remedy::kFixRequest;
    case ErrorCode::kSchemaUnavailable:
    case ErrorCode::kStreamConfigUnavailable:
    case ErrorCode::kTopicUnknown:
    case ErrorCode::kQueueFull:
    case ErrorCode::kDeliveryTimeout:
    case ErrorCode::kDeliveryFailed:
    case ErrorCode::kOverloaded:
    case ErrorCode::kRateLimited:
    case ErrorCode::kShuttingDown:
      return Remedy::kRetryLater;
    case ErrorCode::kInternal:
      return Remedy::kFixServer;
  }
  return Remedy::kFixServer;
}

}  // namespace sluice::core
