#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "produce/file_ops.h"
#include "produce/spool_format.h"

namespace sluice::produce {

// The folder `aside` of a spool: what cannot be replayed, kept for a person. `refused.spool` is a
// segment with the records that Kafka refuses for good, `damaged-<segment>.bin` are the bytes of a
// segment that are no records, `unreadable-<segment>.spool` is a segment that the disk does not
// give. One thread; bytes() from any.
class SpoolAside {
 public:
  SpoolAside(FileOps& ops, const std::string& spool_folder);

  // Makes the folder. Returns 0 or errno, as all of them.
  int Open();

  // On disk when this returns 0.
  int KeepRefused(const SpoolRecord& record);

  // The bytes of `file` from `begin` to `end`.
  int KeepDamaged(std::uint64_t segment, AppendFile& file, std::uint64_t begin, std::uint64_t end);

  std::string UnreadablePath(std::uint64_t segment) const;

  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  int Append(const std::string& name, std::string_view bytes);

  FileOps& ops_;
  const std::string folder_;
  std::atomic<std::uint64_t> bytes_{0};
};

inline constexpr std::string_view kRefusedName = "refused.spool";
// The former while its records are put back (ReturnSpoolAside).
inline constexpr std::string_view kReturningName = "returning.spool";

}  // namespace sluice::produce
