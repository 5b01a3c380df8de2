#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& CheckConfigSpec();
int CheckConfig(const Arguments& arguments);

const CommandSpec& ServeSpec();
int Serve(const Arguments& arguments);

}  // namespace sluice::cli
