#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& StreamsCheckSpec();
int StreamsCheck(const Arguments& arguments);

}  // namespace sluice::cli
