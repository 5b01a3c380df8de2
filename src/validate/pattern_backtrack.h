#pragma once

#include <memory>
#include <string_view>

#include "validate/pattern.h"
#include "validate/pattern_ast.h"

namespace sluice::validate {

// A pattern that is matched by trying, exactly as ECMA-262 prescribes, look-around and
// back-references included. The number of steps and the memory of one search are bounded; beyond,
// the answer is kExhausted.
std::unique_ptr<const Pattern> MakeBacktrackPattern(std::string_view source,
                                                    const PatternTree& tree);

// Steps after which a search gives up; a few milliseconds.
inline constexpr std::uint32_t kMaxPatternSteps = 1'000'000;

}  // namespace sluice::validate
