#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "streams/settings_constraints.h"
#include "streams/stream_registry.h"

// What EventStreamConfig's API takes and answers. Pure text over a snapshot.
namespace sluice::streams {

// Which entries are asked for.
struct StreamQuery {
  std::optional<std::vector<std::string>> streams;  // in the order of the answer; nullopt: all
  SettingsConstraints constraints;
  std::string constraints_text;  // the same as it was given, as a key for caching
  std::string warnings;          // a JSON object for the answer; empty: there are none

  bool names_only() const { return streams && constraints.empty(); }
};

// Why a request is not answered, in MediaWiki's words.
struct QueryError {
  std::string code;
  std::string info;
  std::string more;  // further members of the JSON object, each with a comma before it
};

struct QueryReading {
  StreamQuery query;
  std::optional<QueryError> error;
};

using Parameters = std::vector<std::pair<std::string, std::string>>;

// Reads the parameters of a request, decoded once; of one that is given twice the last counts.
QueryReading ReadStreamQuery(const Parameters& parameters);

// The names in `text` between any of the `separators`, each once.
std::vector<std::string> SplitNames(std::string_view text, std::string_view separators);

// Which text an entry is served with: as the API does, with the topics of the name that was asked
// for, or as it was read.
enum class ServedAs : std::uint8_t { kApi, kAsRead };

// Appends a JSON object with the entries of those `names` that are configured, in their order, and
// calls `unknown` for each of the others. Allocates nothing once `out` is large enough.
void AppendNamed(const StreamSnapshot& snapshot, const std::vector<std::string>& names,
                 ServedAs served_as, std::string& out,
                 const std::function<void(std::string_view name)>& unknown);

// Appends a JSON object with all entries in the order of their declaration.
void AppendAll(const StreamSnapshot& snapshot, ServedAs served_as, std::string& out);

// Appends the API's answer to any query. With constraints it parses the settings of each entry that
// is looked at: milliseconds for hundreds of entries.
void AppendAnswer(const StreamSnapshot& snapshot, const StreamQuery& query, std::string& out,
                  const std::function<void(std::string_view name)>& unknown);

// The API's answer to a request that it refuses.
std::string ErrorAnswer(const QueryError& error);

}  // namespace sluice::streams
