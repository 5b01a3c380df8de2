#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "streams/stream_registry.h"
#include "validate/compiled_schema.h"

namespace sluice::streams {

// How bad a finding is. kError: events or their consumers fail as configured. kWarning: likely not
// what was meant. kNote: good to know.
enum class Severity : std::uint8_t { kError, kWarning, kNote };
std::string_view ToString(Severity severity);

// Something about one entry of the stream configuration.
struct Finding {
  Severity severity;
  std::string_view kind;  // one word of a closed set, for programs
  std::string stream;     // the key of the entry
  std::string text;       // one sentence: what is so, and what comes of it
};

// The newest version of the schema that a title names.
struct TitleSchema {
  std::string uri;
  std::string location;
  boost::json::value document;
  std::shared_ptr<const validate::CompiledSchema> compiled;
};
// Null for a title that is not looked up; fails with why there is none that can be used.
using FindTitle = std::function<core::Result<const TitleSchema*>(std::string_view title)>;

// All findings, entry by entry in the order of their declaration. Topics are compared only where
// `options` have a topic_prefix.
std::vector<Finding> LintStreams(const StreamSnapshot& snapshot, const core::StreamOptions& options,
                                 const FindTitle& find_title);

}  // namespace sluice::streams
