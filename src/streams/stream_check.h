#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "streams/stream_registry.h"

// Whether an event may enter its stream, and the original's words where it may not.
namespace sluice::streams {

// What the texts say about an event. Empty: unknown; an empty id is left out.
struct EventIdentity {
  std::string_view id;
  std::string_view schema_uri;
  std::string_view stream;
};

// "event <id> of schema at <uri> destined to stream <stream>".
std::string Describe(const EventIdentity& event);

// The part of the check that needs no schema; call it first. `settings` is what the snapshot found
// for event.stream, null if nothing. Fails with kStreamNotConfigured.
core::Result<void> CheckConfigured(const EventIdentity& event, const StreamSettings* settings);

// The rest, for settings that passed CheckConfigured, once the schema is known: its title has to be
// the stream's. Fails with kStreamSchemaMismatch, also where the schema has no title.
core::Result<void> CheckSchemaTitle(const EventIdentity& event, const StreamSettings& settings,
                                    const std::optional<std::string>& schema_title);

// The error for events that come while there is no stream configuration although one is set;
// `reason` is why.
core::Error ConfigUnavailable(const EventIdentity& event, std::string_view reason);

}  // namespace sluice::streams
