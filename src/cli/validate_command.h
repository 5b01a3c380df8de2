#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& ValidateSpec();
int Validate(const Arguments& arguments);

}  // namespace sluice::cli
