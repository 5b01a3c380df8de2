#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& ReloadSpec();
int Reload(const Arguments& arguments);

}  // namespace sluice::cli
