#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "validate/pattern.h"
#include "validate/pattern_ast.h"

namespace sluice::validate {

// The expression in RE2's syntax, or nothing if RE2 cannot express it: look-around,
// back-references, and counts above what RE2 takes.
std::optional<std::string> ToRe2Syntax(const PatternTree& tree);

// A pattern that RE2 runs, in time linear in the text. Null if RE2 cannot express it, or refuses it
// as too large.
std::unique_ptr<const Pattern> MakeRe2Pattern(std::string_view source, const PatternTree& tree);

}  // namespace sluice::validate
