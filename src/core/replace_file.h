#pragma once

#include <string>
#include <string_view>

namespace sluice::core {

// Gives the file at `path` the content `text` so that a crash at any moment leaves either the old
// or the new content, whole: a file beside it is written, flushed to disk and renamed. Makes the
// folder if it is not there. Returns 0, or the errno that says why not. Blocks for the disk; one
// caller at a time for each path.
int ReplaceFile(const std::string& path, std::string_view text);

}  // namespace sluice::core
