#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "core/config.h"
#include "produce/file_ops.h"
#include "produce/spool_format.h"

namespace sluice::produce {

// The segments of a spool: files that are appended to one after the other and removed one after the
// other. One thread appends, one reads and removes; what both look at is behind a lock.
class SpoolLog {
 public:
  struct Options {
    std::string folder;
    std::uint64_t segment_bytes = 32u << 20;
    core::FsyncPolicy fsync = core::FsyncPolicy::kBatch;
    std::function<std::int64_t()> now_ms;
  };

  struct Segment {
    std::uint64_t number = 0;
    std::uint64_t first_sequence = 0;
    std::uint64_t records = 0;
    std::uint64_t data_end = 0;  // up to here it is on disk and may be read
    std::uint64_t file_bytes = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    std::uint32_t salt = 0;
    bool sealed = false;  // nothing will be appended
  };

  // What Open found that a clean stop does not leave.
  struct Recovery {
    std::uint64_t torn_bytes = 0;  // cut off the end of a segment: were never confirmed
    std::uint64_t unsealed = 0;    // segments that were read whole, since they had no footer
  };

  // `ops` outlives the log.
  SpoolLog(Options options, FileOps& ops);

  // Looks at each segment in the folder: reads its footer, and all of it only where that is
  // missing. Removes those before `done`, and moves `done` to the first record that is there.
  // Returns 0 or errno.
  int Open(SpoolPosition* done, Recovery* recovery);

  // Appends and syncs the records, in order, and gives each its sequence and time. `kept`: so many
  // of them, from the first on, are on disk; fewer than all only with an error (errno).
  int Append(std::span<SpoolRecord> records, std::size_t* kept);

  // Ends the segment that is appended to, if there is one. Returns 0 or errno.
  int Seal();

  // The first segment from `number` on.
  std::optional<Segment> From(std::uint64_t number) const;

  // 0 if the folder takes what is written: tried with a file that goes again. Of the appending
  // thread.
  int Probe();

  // Returns 0 or errno.
  int OpenSegment(std::uint64_t number, std::unique_ptr<AppendFile>* file);
  int Remove(std::uint64_t number);
  // Into another folder, under another name.
  int Move(std::uint64_t number, const std::string& path);

  std::uint64_t next_sequence() const;
  std::uint64_t bytes() const;
  std::size_t segments() const;

 private:
  std::string PathOf(std::uint64_t number) const;
  int Look(std::uint64_t number, bool last, Segment* segment, Recovery* recovery);
  int ReadHeader(AppendFile& file, Segment* segment, bool* whole);
  // What bytes behind the last whole record are.
  enum class Tail : std::uint8_t { kTorn, kDamaged };
  int Scan(Tail tail, Segment* segment, Recovery* recovery);
  int WriteFooter(AppendFile& file, Segment* segment);
  int Begin();
  int Write(AppendFile& file, std::string_view bytes);
  int Publish();
  void Abandon();

  const Options options_;
  FileOps& ops_;

  // Of the appending thread.
  std::unique_ptr<AppendFile> active_;
  Segment writing_;  // the active segment with what is written and not yet synced
  bool name_synced_ = false;
  std::uint64_t next_number_ = 1;
  std::string buffer_;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Segment> segments_;
  std::uint64_t next_sequence_ = 1;
  std::uint64_t bytes_ = 0;
};

}  // namespace sluice::produce
