#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& StreamsDiffSpec();
int StreamsDiff(const Arguments& arguments);

}  // namespace sluice::cli
