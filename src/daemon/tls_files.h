#pragma once

#include "daemon/config_reader.h"

namespace sluice::daemon {

// Adds the problems of the files that tls.* and admin.tls.* name: what cannot
// be read, has expired or does not fit together. Blocks on files.
void CheckTlsFiles(ConfigReading& reading);

}  // namespace sluice::daemon
