#pragma once

#include "cli/arguments.h"

namespace sluice::cli {

// sluice spool …: what a spool holds, for a person. `verify`, `replay` and `drop` need the spool
// for themselves and refuse while a daemon uses it.
const CommandSpec& SpoolLsSpec();
int SpoolLs(const Arguments& arguments);

const CommandSpec& SpoolVerifySpec();
int SpoolVerify(const Arguments& arguments);

const CommandSpec& SpoolExportSpec();
int SpoolExport(const Arguments& arguments);

const CommandSpec& SpoolReplaySpec();
int SpoolReplay(const Arguments& arguments);

const CommandSpec& SpoolDropSpec();
int SpoolDrop(const Arguments& arguments);

}  // namespace sluice::cli
