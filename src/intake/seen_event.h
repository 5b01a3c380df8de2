#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/metrics.h"

namespace sluice::intake {

// The text of an event as an operator may see it: masked, and no longer than a bound.
struct ShownText {
  std::string text;         // without blanks; a JSON text if `whole`; empty: it could not be read
  bool whole = false;       // else it was cut
  std::uint64_t bytes = 0;  // of the event itself
};

// What is told of one event to who looks at refused ones or taps a stream.
struct SeenEvent {
  std::int64_t time_ms = 0;  // epoch
  std::string stream;        // empty: the request was refused before any event of it was read
  std::string schema_uri;
  std::string request_id;
  core::Disposition outcome = core::Disposition::kRefused;
  core::ErrorCode code = core::ErrorCode::kInternal;  // meaningful if it was not accepted
  std::string message;                                // the same
  ShownText event;

  bool accepted() const {
    return outcome == core::Disposition::kAcknowledged ||
           outcome == core::Disposition::kHastilyAccepted;
  }
};

// Appends it as one JSON object without line breaks. The event is the member `event`, or, where it
// was cut, the string `event_begin`.
void AppendSeenEvent(const SeenEvent& seen, std::string& out);

}  // namespace sluice::intake
