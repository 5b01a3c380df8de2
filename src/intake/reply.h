#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/error.h"
#include "core/metrics.h"
#include "intake/ingest.h"

namespace sluice::intake {

// Why one event was not accepted, with what its sender gets back. Made only for failures.
struct EventFailure {
  core::ErrorCode code = core::ErrorCode::kInternal;
  bool invalid = false;         // failed its schema: "invalid", else "error"
  std::string event_json;       // the event as processed, defaults and enrichment in it
  std::string errors_json;      // of an invalid one: the array of error objects
  std::string message;          // errorsText of an invalid one, else the message
  bool is_final = false;        // will not pass here, although failures of its code may
  int retry_after_seconds = 0;  // of one that may pass, where that is known
};

// Whose turn it is after the failure.
core::Remedy RemedyOf(const EventFailure& failure);

// How an event that failed with `code` is counted: refused if its sender must change something,
// or only has to send less, else failed.
core::Disposition DispositionOf(core::ErrorCode code);
core::Disposition DispositionOf(const EventFailure& failure);

// The answer to `events` events of which `failures` failed (in the order of the events; 201, 400,
// 207, 429, 503 or 500; reason phrases and bodies as the original's). `durability` is what the
// accepted ones rest on.
IngestReply ReplyToEvents(std::uint32_t events, std::span<const EventFailure* const> failures,
                          produce::Durability durability);

// 202, before anything is known about the events.
IngestReply ReplyToHasty(std::uint32_t events);

}  // namespace sluice::intake
