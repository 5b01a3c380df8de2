#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& ExplainSpec();
int Explain(const Arguments& arguments);

}  // namespace sluice::cli
