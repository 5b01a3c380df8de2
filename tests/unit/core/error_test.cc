#include "core/error.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace sluice::core {
namespace {

TEST_CASE("ErrorCode: the words and remedies are those of the contract") {
  struct Row {
    ErrorCode code;
    std::string_view word;
    Remedy remedy;
  };
  const Row rows[] = {
      {ErrorCode::kMalformedBody, "malformed_body", Remedy::kFixRequest},
      {ErrorCode::kBodyTooLarge, "body_too_large", Remedy::kFixRequest},
      {ErrorCode::kUnsupportedMediaType, "unsupported_media_type", Remedy::kFixRequest},
      {ErrorCode::kMissingSchemaUri, "missing_schema_uri", Remedy::kFixRequest},
      {ErrorCode::kSchemaUriNotAllowed, "schema_uri_not_allowed", Remedy::kFixRequest},
      {ErrorCode::kSchemaNotFound, "schema_not_found", Remedy::kFixRequest},
      {ErrorCode::kSchemaUnavailable, "schema_unavailable", Remedy::kRetryLater},
      {ErrorCode::kSchemaUnusable, "schema_unusable", Remedy::kFixRequest},
      {ErrorCode::kStreamMissing, "stream_missing", Remedy::kFixRequest},
      {ErrorCode::kStreamNotConfigured, "stream_not_configured", Remedy::kFixRequest},
      {ErrorCode::kStreamSchemaMismatch, "stream_schema_mismatch", Remedy::kFixRequest},
      {ErrorCode::kStreamConfigUnavailable, "stream_config_unavailable", Remedy::kRetryLater},
      {ErrorCode::kValidationFailed, "validation_failed", Remedy::kFixRequest},
      {ErrorCode::kMessageKeyMissing, "message_key_missing", Remedy::kFixRequest},
      {ErrorCode::kRecordTooLarge, "record_too_large", Remedy::kFixRequest},
      {ErrorCode::kTopicUnknown, "topic_unknown", Remedy::kRetryLater},
      {ErrorCode::kQueueFull, "queue_full", Remedy::kRetryLater},
      {ErrorCode::kDeliveryTimeout, "delivery_timeout", Remedy::kRetryLater},
      {ErrorCode::kDeliveryFailed, "delivery_failed", Remedy::kRetryLater},
      {ErrorCode::kOverloaded, "overloaded", Remedy::kRetryLater},
      {ErrorCode::kRateLimited, "rate_limited", Remedy::kRetryLater},
      {ErrorCode::kShuttingDown, "shutting_down", Remedy::kRetryLater},
      {ErrorCode::kInternal, "internal", Remedy::kFixServer},
  };
  std::set<ErrorCode> seen;
  for (const Row& row : rows) {
    CHECK(ToString(row.code) == row.word);
    CHECK(RemedyOf(row.code) == row.remedy);
    seen.insert(row.code);
  }
  CHECK(seen.size() == static_cast<std::size_t>(kErrorCodeCount));
}

}  // namespace
}  // namespace sluice::core
