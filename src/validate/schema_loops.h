#pragma once

#include "validate/program.h"

namespace sluice::validate {

// Whether a schema of the program leads back to itself through keywords that apply to the same
// value ($ref, allOf, anyOf, oneOf, not, if, then, else, dependencies).
bool HasLoops(const Program& program);

}  // namespace sluice::validate
