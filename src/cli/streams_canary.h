#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& StreamsCanarySpec();
int StreamsCanary(const Arguments& arguments);

}  // namespace sluice::cli
