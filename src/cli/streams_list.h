#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& StreamsListSpec();
int StreamsList(const Arguments& arguments);

const CommandSpec& StreamsShowSpec();
int StreamsShow(const Arguments& arguments);

}  // namespace sluice::cli
