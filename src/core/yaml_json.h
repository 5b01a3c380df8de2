#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace sluice::core {

// Bounds on what a text may expand to, so that neither nesting nor aliases can exhaust this
// process.
struct DocumentLimits {
  std::size_t depth = 200;
  std::size_t values = 2'000'000;  // after aliases were expanded
};

// Reads a text that is JSON, or YAML as js-yaml types it: unquoted null, true, false, integers and
// floats, all else a string (timestamps too); anchors, aliases, merge keys, block scalars. Members
// keep their order. Numbers are as JavaScript has them: int64 where that is the exact value and
// within 2^53, else double. A key given twice is an error in YAML, in JSON the last one counts.
// Fails with `code` and a message that begins with "line N: ". Does not throw.
Result<boost::json::value> ParseYamlOrJson(std::string_view text, ErrorCode code,
                                           const DocumentLimits& limits = {});

// On which line of `text` (from 1) each of the values stands that these JSON pointers name; 0 where
// there is none, or where the text is not YAML. For error messages: reads the text again.
std::vector<std::size_t> LinesOf(std::string_view text, const std::vector<std::string>& pointers);

// Appends "/" and `token` with ~ and / escaped.
void AppendPointerToken(std::string& pointer, std::string_view token);

}  // namespace sluice::core
