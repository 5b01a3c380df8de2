#pragma once

#include <memory>
#include <string>

#include "produce/file_ops.h"
#include "produce/spool_format.h"

namespace sluice::produce {

// How far the spool was replayed, on disk: two places that are written in turn, so that one is
// whole at any moment, and that need no room on a full disk. One thread.
class SpoolCheckpoint {
 public:
  enum class Found : std::uint8_t {
    kNothing,  // a new file
    kWhole,
    kDamaged,  // there was one and it cannot be read: everything will be replayed
  };

  // Opens or makes the file in the folder, which is there; the name survives a loss of power.
  // Returns 0 or errno.
  int Open(FileOps& ops, const std::string& folder);

  Found found() const { return found_; }
  const Checkpoint& current() const { return current_; }

  // On disk when this returns 0. After a failure the one before still stands.
  int Store(const SpoolPosition& done, std::uint64_t ceiling);

 private:
  std::unique_ptr<FixedFile> file_;
  Checkpoint current_;
  Found found_ = Found::kNothing;
};

}  // namespace sluice::produce
