#pragma once

#include <string>

#include "cli/explain_steps.h"

namespace sluice::cli {

// For a person, some lines.
std::string ExplanationText(const Explanation& explanation);

// One JSON object, without a line feed at its end: accepted, status, code, steps, record.
std::string ExplanationJson(const Explanation& explanation);

}  // namespace sluice::cli
