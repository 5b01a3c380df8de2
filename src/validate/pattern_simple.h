#pragma once

#include <memory>
#include <string_view>

#include "validate/pattern.h"
#include "validate/pattern_ast.h"

namespace sluice::validate {

// A pattern that a matcher of our own runs in one pass, without a step back: it begins with ^, and
// then come characters and classes with counts, of which none can begin with what the one before it
// could take as well; or it is plain text to be found anywhere. Null if the expression is not like
// that.
std::unique_ptr<const Pattern> MakeSimplePattern(std::string_view source, const PatternTree& tree);

}  // namespace sluice::validate
