#pragma once

#include <string>

#include "cli/arguments.h"

// What packages hold beside the program, made of the tables of commands and of configuration keys.
namespace sluice::cli {

// The man page sluice(1), in roff.
std::string CommandManual();

// Completion of commands, options, configuration keys behind --set and file names.
std::string BashCompletion();
std::string ZshCompletion();

// `sluice print-docs man|man-config|bash|zsh`, hidden: for scripts/package.
const CommandSpec& PrintDocsSpec();
int PrintDocs(const Arguments& arguments);

}  // namespace sluice::cli
