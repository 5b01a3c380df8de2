#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "streams/declared_journal.h"

namespace sluice::streams {

// What a declaration says; as far as it can be read, where reasons were given.
struct DeclarationBody {
  std::string settings_json;
  std::string schema_title;
  std::optional<WallTime> expires_at;
};

// Adds to `reasons` why `name` cannot be that of a declared stream: the letters of topic names, and
// short enough to be one behind the topic prefix.
void CheckStreamName(std::string_view name, std::string_view topic_prefix,
                     std::vector<std::string>& reasons);

// Reads {"settings": {…}, "expires": "2030-01-01T00:00:00Z"} (expires may be missing or null; no
// other members). Adds everything that is wrong to `reasons`, each with the JSON pointer to it:
// types of the settings that somebody reads, a missing schema_title, a time that is past. Settings
// that nobody knows are let through.
DeclarationBody ReadDeclarationBody(std::string_view name, std::string_view body, WallTime now,
                                    std::vector<std::string>& reasons);

}  // namespace sluice::streams
