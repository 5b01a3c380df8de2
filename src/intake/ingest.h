#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "intake/admission.h"
#include "produce/producer.h"

// What the HTTP side hands to the event side and gets back. Neither knows the other's types.
namespace sluice::intake {

enum class BodyKind : std::uint8_t { kJson, kNdjson };

// Looks up request headers by lower-case name; empty if absent. The last one wins where a header is
// repeated, except x-forwarded-for, whose values are joined by ", ".
class HeaderSource {
 public:
  virtual ~HeaderSource() = default;
  virtual std::string_view Header(std::string_view lower_case_name) const = 0;
};

// One POST of events, after its body was read and decompressed. Everything viewed here needs to
// live only during EventPipeline::Process, which copies what it needs beyond.
struct IngestRequest {
  std::string_view body;  // validate::kReadPadding bytes behind it are readable
  BodyKind kind = BodyKind::kJson;
  produce::DeliveryMode mode = produce::DeliveryMode::kGuaranteed;
  const HeaderSource* headers = nullptr;
  std::string_view request_id;             // never empty
  std::string_view trace_id;               // of the traceparent header, or empty
  std::string_view peer_address;           // of the connection, without port
  bool peer_is_trusted = false;            // forwarded-for headers may be believed
  std::array<unsigned char, 16> client{};  // AddressKey of who sent it, where clients are limited
  std::string_view schema_uri_default;     // from the query, where configured; else empty
  std::string_view stream_default;
  Permit permit;  // freed when the last record's fate is known
};

// The answer to a request about events. `reason` is the phrase of the status line; for 201 it is
// empty and the HTTP side writes "All <events> out of <events> events were accepted." from a
// prepared buffer.
struct IngestReply {
  int status = 500;
  std::uint32_t events = 0;
  std::string reason;
  std::string body;                                             // JSON, or empty
  produce::Durability durability = produce::Durability::kNone;  // of a 2xx
  std::optional<int> retry_after_seconds;
  bool close = false;  // the connection must not be used further
};

// Who gets the answer. OnReply comes exactly once, on the I/O thread, possibly inside Process.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void OnReply(IngestReply&& reply) = 0;
};

// The answer to a request that failed as a whole (malformed_body, body_too_large,
// unsupported_media_type, overloaded, rate_limited, shutting_down, internal): status by the code,
// body
// {"invalid":[],"error":[{"status":"error","event":{},"context":
// {"message":…,"code":…}}]}, Retry-After where it may pass.
IngestReply ReplyToFailedRequest(const core::Error& error);

// 400 with an empty body, as the original answers an empty one.
IngestReply ReplyToEmptyBody();

}  // namespace sluice::intake
