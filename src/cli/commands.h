#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

// Runs `sluice <words…>` and returns the exit code. Writes to stdout and stderr.
int Run(const std::vector<std::string>& words);

}  // namespace sluice::cli
