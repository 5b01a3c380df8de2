#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "produce/file_ops.h"

namespace sluice::produce {

struct SpoolReturn {
  std::uint64_t records = 0;          // that wait in the spool again
  std::vector<std::string> problems;  // one sentence each: what could not be put back
};

// Puts the records that were set aside behind those that wait, so that the next replay tries them
// once more. For a spool that nobody has open and whose lock the caller has. A crash in between
// loses none; some may then be there twice.
SpoolReturn ReturnSpoolAside(FileOps& ops, const std::string& folder, std::uint64_t segment_bytes);

}  // namespace sluice::produce
