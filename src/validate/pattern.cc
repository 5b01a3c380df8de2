#include "validate/pattern.h"

#include <utility>

#include "validate/pattern_backtrack.h"
#include "validate/pattern_parse.h"
#include "validate/pattern_re2.h"
#include "validate/pattern_simple.h"

namespace sluice::validate {

core::Result<std::unique_ptr<const Pattern>> Pattern::Compile(std::string_view ecmascript) {
  auto tree = ParsePattern(ecmascript);
  if (!tree) {
    core::Error error = std::move(tree).error();
    error.message = "not a regular expression: " + error.message;
    return error;
  }
  if (auto simple = MakeSimplePattern(ecmascript, *tree)) return simple;
  if (auto re2 = MakeRe2Pattern(ecmascript, *tree)) return re2;
  return MakeBacktrackPattern(ecmascript, *tree);
}

}  // namespace sluice::validate
