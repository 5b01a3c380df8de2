#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/config.h"
#include "core/error.h"
#include "streams/static_snapshot.h"

namespace sluice::streams {

// The last good static streams, kept on disk for a start at which their sources cannot be read. One
// file: a line that says what it is (format, sources, time, size and checksum), then all settings.
struct ConfigCopy {
  std::shared_ptr<StaticSnapshot> streams;
  std::chrono::system_clock::time_point saved;
};

// A copy is good only for the sources that it was made from: this names them.
std::string SourcesOf(const core::StreamOptions& options);

// Writes the copy, so that a crash leaves the old one or the new one. Returns 0 or an errno. Blocks
// for the disk.
int WriteConfigCopy(const std::string& path, const std::string& sources,
                    const StaticSnapshot& streams, std::chrono::system_clock::time_point now);

// Fails with kStreamConfigUnavailable and the reason: there is none, it is damaged, or of other
// sources.
core::Result<ConfigCopy> ReadConfigCopy(const std::string& path, const std::string& sources);

}  // namespace sluice::streams
