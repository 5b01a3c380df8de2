#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/explain_steps.h"
#include "core/config.h"
#include "streams/stream_registry.h"

namespace sluice::cli {

// Where a schema URI was looked for, and found; if nowhere, what was likely meant. Reads folders.
// `loaded` says whether the schema was loaded in the end.
enum class Loaded : std::uint8_t { kNo, kYes };
void TellSchemaPlaces(const core::SchemaOptions& options, std::string_view uri, Loaded loaded,
                      Step& step);

// Which entry of the stream configuration counts for a stream, and what it says; null snapshot:
// none is configured.
void TellStreamEntry(const core::StreamOptions& options, const streams::StreamSnapshot* snapshot,
                     std::string_view stream, Step& step);

}  // namespace sluice::cli
