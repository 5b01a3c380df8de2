#pragma once

#include <string>

namespace sluice::validate {

// Appends `value` as JavaScript's Number.prototype.toString does ("1e+21", "0.000001", "1e-7",
// "Infinity", "-0" as "0").
void AppendJsNumber(std::string& out, double value);

}  // namespace sluice::validate
