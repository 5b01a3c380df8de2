#pragma once

#include <boost/system/result.hpp>
#include <boost/throw_exception.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::core {

// The closed set of reasons why an event, or a whole request, was not accepted. The words
// (ToString) are the label `reason` of the metrics and the field `code` in the context of an
// answer; they are part of the contract.
enum class ErrorCode : std::uint8_t {
  kMalformedBody,            // the body is not JSON, or cannot be decompressed
  kBodyTooLarge,             // above max_body_size, before or after decompression
  kUnsupportedMediaType,     // media type, charset or content encoding that is not read
  kMissingSchemaUri,         // the event has no $schema
  kSchemaUriNotAllowed,      // absolute, with a traversal, with a fragment, or not a string
  kSchemaNotFound,           // in none of the base URIs
  kSchemaUnavailable,        // a base URI could not be reached; may pass
  kSchemaUnusable,           // does not compile, is not secure, is no schema
  kStreamMissing,            // the event names no stream
  kStreamNotConfigured,      // the stream has no configuration, or none that says which schema
  kStreamSchemaMismatch,     // the schema's title is not the one of the stream
  kStreamConfigUnavailable,  // no stream configuration could be read yet; may pass
  kValidationFailed,         // the event does not fit its schema
  kMessageKeyMissing,        // a field that the record key is made of is absent
  kRecordTooLarge,           // larger than the broker takes
  kTopicUnknown,             // the cluster has no such topic; may pass if topics are auto-created
  kQueueFull,                // the producer's queue has no room; may pass
  kDeliveryTimeout,          // no delivery report in time; may pass
  kDeliveryFailed,           // the broker or the file refused the record
  kOverloaded,               // a limit of this process is reached; may pass
  kRateLimited,              // more than one client or one stream may send; may pass
  kShuttingDown,             // this process takes no new events; may pass
  kInternal,                 // a defect of ours
};
inline constexpr int kErrorCodeCount = static_cast<int>(ErrorCode::kInternal) + 1;

// The contract's word for `code`, for example "schema_not_found". Never empty.
std::string_view ToString(ErrorCode code);

// Whose turn it is after an error: decides the HTTP status of a request that failed with nothing
// else.
enum class Remedy : std::uint8_t {
  kFixRequest,  // the client's fault, a retry cannot help: 400 (413, 415 for the two body codes)
  kRetryLater,  // may pass: 503 (429 for kRateLimited) with Retry-After
  kFixServer,   // a defect or a final refusal by the broker: 500
};
Remedy RemedyOf(ErrorCode code);

// An error of an operation: the code decides what happens, the message is for a person and names
// what to change.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <class T>
using Result = boost::system::result<T, Error>;

// What result::value() calls on an error, found by its argument; the data path asks has_value()
// first.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location& where) {
  boost::throw_with_location(std::runtime_error(error.message), where);
}

}  // namespace sluice::core
