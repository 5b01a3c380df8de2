#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

const CommandSpec& KafkaCheckSpec();
int KafkaCheck(const Arguments& arguments);

}  // namespace sluice::cli
