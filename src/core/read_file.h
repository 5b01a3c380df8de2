#pragma once

#include <cstddef>
#include <string>

namespace sluice::core {

// Reads a whole regular file into `out`. Returns 0, or the errno that says why not: EFBIG above
// `max_bytes`, EISDIR for a folder, EINVAL for a pipe or device (which are not waited for). Blocks
// for the disk.
int ReadFile(const std::string& path, std::size_t max_bytes, std::string& out);

// strerror, safe in any thread.
std::string ErrnoText(int error);

}  // namespace sluice::core
