#include "intake/reply.h"

#include <doctest/doctest.h>

#include <vector>

namespace sluice::intake {
namespace {

using core::ErrorCode;

EventFailure Error(ErrorCode code) { return {code, false, "{}", "", "text"}; }
EventFailure Invalid() {
  return {ErrorCode::kValidationFailed, true, "{\"a\":1}", "[]", "'' should"};
}

IngestReply Reply(std::uint32_t events, const std::vector<EventFailure>& failures) {
  std::vector<const EventFailure*> pointers;
  for (const EventFailure& failure : failures) pointers.push_back(&failure);
  return ReplyToEvents(events, pointers, produce::Durability::kKafka);
}

TEST_CASE("ReplyToEvents: status and reason phrase by what failed") {
  CHECK(Reply(3, {}).status == 201);
  CHECK(Reply(3, {}).durability == produce::Durability::kKafka);
  const auto all_invalid = Reply(1, {Invalid()});
  CHECK(all_invalid.status == 400);
  CHECK(all_invalid.reason == "1 out of 1 events were invalid and not accepted.");
  CHECK(
      all_invalid.body ==
      R"({"invalid":[{"status":"invalid","event":{"a":1},"context":{"errors":[],"errorsText":"'' should","code":"validation_failed"}}]})");
  const auto some = Reply(2, {Invalid()});
  CHECK(some.status == 207);
  CHECK(some.reason == "1 out of 2 events were accepted, but 1 failed (1 invalid and 0 errored).");
  CHECK(some.body.ends_with(R"(,"error":[]})"));
  const auto mixed = Reply(2, {Invalid(), Error(ErrorCode::kSchemaNotFound)});
  CHECK(mixed.status == 400);
  CHECK(mixed.reason ==
        "2 out of 2 events had failures and were not accepted. (1 invalid and 1 errored).");
  CHECK(
      mixed.body.find(
          R"("error":[{"status":"error","event":{},"context":{"message":"text","code":"schema_not_found"}}])") !=
      std::string::npos);
}

TEST_CASE("ReplyToEvents: what may pass is 503 with Retry-After, a defect 500") {
  CHECK(Reply(1, {Error(ErrorCode::kDeliveryTimeout)}).status == 503);
  CHECK(Reply(1, {Error(ErrorCode::kDeliveryTimeout)}).retry_after_seconds.has_value());
  CHECK(Reply(2, {Error(ErrorCode::kSchemaNotFound), Error(ErrorCode::kQueueFull)}).status == 503);
  CHECK(Reply(1, {Error(ErrorCode::kInternal)}).status == 500);
  CHECK(Reply(2, {Error(ErrorCode::kInternal), Error(ErrorCode::kMissingSchemaUri)}).status == 500);
  CHECK_FALSE(Reply(1, {Error(ErrorCode::kMissingSchemaUri)}).retry_after_seconds.has_value());
}

TEST_CASE("ReplyToEvents: above a rate is 429 unless something else may pass") {
  EventFailure slow = Error(ErrorCode::kRateLimited);
  slow.retry_after_seconds = 7;
  EventFailure slower = slow;
  slower.retry_after_seconds = 9;
  const auto refused = Reply(3, {slow, slower, Error(ErrorCode::kMissingSchemaUri)});
  CHECK(refused.status == 429);
  CHECK(refused.retry_after_seconds == 9);
  CHECK(Reply(3, {slow}).status == 207);
  CHECK(Reply(2, {slow, Error(ErrorCode::kInternal)}).status == 429);
  const auto mixed = Reply(2, {Error(ErrorCode::kQueueFull), slow});
  CHECK(mixed.status == 503);
  CHECK(mixed.retry_after_seconds == 7);
  CHECK(ReplyToFailedRequest({ErrorCode::kRateLimited, ""}).status == 429);
}

TEST_CASE("ReplyToFailedRequest: lists, never a flat document") {
  const auto reply = ReplyToFailedRequest({ErrorCode::kMalformedBody, "Body is not JSON: x\ny"});
  CHECK(reply.status == 400);
  CHECK(reply.reason == "Body is not JSON: x?y");
  CHECK(
      reply.body ==
      R"({"invalid":[],"error":[{"status":"error","event":{},"context":{"message":"Body is not JSON: x\ny","code":"malformed_body"}}]})");
  CHECK(ReplyToFailedRequest({ErrorCode::kBodyTooLarge, ""}).status == 413);
  CHECK(ReplyToFailedRequest({ErrorCode::kUnsupportedMediaType, ""}).status == 415);
  CHECK(ReplyToFailedRequest({ErrorCode::kOverloaded, ""}).status == 503);
  CHECK(ReplyToFailedRequest({ErrorCode::kInternal, ""}).status == 500);
}

TEST_CASE("DispositionOf: the client's fault is refused, all else failed") {
  CHECK(DispositionOf(ErrorCode::kValidationFailed) == core::Disposition::kRefused);
  CHECK(DispositionOf(ErrorCode::kDeliveryTimeout) == core::Disposition::kFailed);
  CHECK(DispositionOf(ErrorCode::kRateLimited) == core::Disposition::kRefused);
  CHECK(DispositionOf(ErrorCode::kInternal) == core::Disposition::kFailed);
}

}  // namespace
}  // namespace sluice::intake
