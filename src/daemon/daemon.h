#pragma once

#include "core/config.h"
#include "daemon/config_reader.h"

namespace sluice::daemon {

// `config` is what `source` says, which is read again for a reload. Builds every part, serves until
// SIGTERM or SIGINT, and stops in the order in which nothing is lost. Returns the process's exit
// code: 0, 2 if a part could not start as configured (one sentence on stderr says what to change),
// 3 if records were lost. Call from the main thread, once, before any other thread exists.
int Serve(const ConfigSource& source, const core::Config& config);

}  // namespace sluice::daemon
