#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/metrics.h"
#include "core/uuid.h"
#include "intake/enrichment.h"
#include "intake/error_event.h"
#include "intake/event_watch.h"
#include "intake/ingest_job.h"
#include "intake/rate_limits.h"
#include "intake/route.h"
#include "validate/editable_event.h"
#include "validate/field_path.h"
#include "validate/validator.h"

namespace sluice::intake {

// Where an event says it belongs, as far as can be told before its schema is known.
struct EventAddress {
  std::string_view schema_uri;       // empty: see `error`
  std::string_view stream;           // empty: missing
  std::optional<core::Error> error;  // of the schema URI
};

// One event of a request that is to be processed.
struct EventInput {
  std::uint32_t node;   // in the document
  std::uint32_t index;  // in the request
  EventAddress address;
  Route* route;                     // null if the schema could not be had
  const core::Error* schema_error;  // why; meaningful if route is null and address.error empty
};

// What the events of one request share.
struct RequestScope {
  validate::Document& document;
  const RequestFacts& facts;
  const streams::StreamSnapshot* snapshot;  // null: streams are not configured
  std::int64_t now_ms;
  IngestJob& job;
};

// Takes single events from parsed to accepted or failed: completes, checks the stream, validates,
// and appends the record to the job. One per thread; keeps its scratch.
class EventProcessor {
 public:
  struct Parts {  // outlive it
    const core::Config& config;
    produce::Producer& producer;
    core::Metrics& metrics;
    EventWatch* watch = nullptr;  // is told of events; null: nobody is
    RateLimits* rates = nullptr;  // null: nothing is limited
  };
  explicit EventProcessor(const Parts& parts);

  // Reads $schema and the stream of an event that is at `root`. Views into the document, the
  // request's facts, or (a stream derived from the schema URI) this object, until the next call.
  EventAddress AddressOf(const validate::Document& document, const validate::Node* root,
                         const RequestFacts& facts);

  // Adds to scope.job.accepted or scope.job.failed.
  void Process(const EventInput& input, const RequestScope& scope);

  // Error events for what failed validation since the last call, if an error stream is configured.
  std::vector<ErrorEvent> TakeErrorEvents() { return std::exchange(error_events_, {}); }

 private:
  void Complete(const EventInput& input, const RequestScope& scope);
  core::Result<void> CheckStream(const EventInput& input,
                                 const streams::StreamSnapshot* snapshot) const;
  core::Result<void> OpenTopic(Route& route);
  void Accept(const EventInput& input, const RequestScope& scope);
  void Fail(core::Error error, const EventInput& input, const RequestScope& scope,
            int retry_after_seconds = 0);
  // Whether the stream may have one more event now; else it has failed.
  bool TakeFromStream(const EventInput& input, const RequestScope& scope);
  void FailValidation(const EventInput& input, const RequestScope& scope);
  void AddFailure(EventFailure&& failure, const EventInput& input, const RequestScope& scope);
  std::string EventJson() const;

  const core::Config& config_;
  produce::Producer& producer_;
  core::Metrics& metrics_;
  EventWatch* const watch_;
  RateLimits* const rates_;
  core::UuidGenerator uuids_;
  std::vector<validate::FieldPath> schema_uri_fields_;
  validate::FieldPath stream_field_;
  validate::FieldPath dt_field_;
  validate::FieldPath id_field_;
  std::string missing_schema_text_;
  std::string derived_stream_;
  std::string compact_;
  validate::EditableEvent event_;
  validate::Validator validator_;
  std::vector<ErrorEvent> error_events_;
};

}  // namespace sluice::intake
