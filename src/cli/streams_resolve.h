#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& StreamsResolveSpec();
int StreamsResolve(const Arguments& arguments);

}  // namespace sluice::cli
