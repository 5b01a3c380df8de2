#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& TapSpec();
int Tap(const Arguments& arguments);

const CommandSpec& LogLevelSpec();
int LogLevel(const Arguments& arguments);

}  // namespace sluice::cli
