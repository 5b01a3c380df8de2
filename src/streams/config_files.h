#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "streams/config_assembly.h"

namespace sluice::streams {

bool IsHttpUrl(std::string_view uri);

// The path that a path or file:// URI means.
std::string PathOf(std::string_view uri);

// The paths of stream_config_files, then that of stream_config_uri if it is one; for reading and
// watching.
std::vector<std::string> ConfigPaths(const core::StreamOptions& options);

// Reads all files that the options name: of a folder, those that end in .yaml, .yml or .json, in
// the order of their names. Fails with kStreamConfigUnavailable and every reason, one a line.
// Blocks for the disk.
core::Result<std::vector<ConfigText>> ReadConfigFiles(const core::StreamOptions& options);

}  // namespace sluice::streams
