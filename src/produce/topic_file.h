#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "produce/file_ops.h"

namespace sluice::produce {

// The file of one topic: whole lines only, whatever goes wrong. A line that was written in part is
// cut off again before the next one is appended, so a full disk or an I/O error costs the records
// it hits and nothing else. Used by one thread at a time; every call may block.
class TopicFile {
 public:
  // `ops` outlives the file. Opens nothing yet.
  TopicFile(FileOps& ops, std::string folder, std::string_view file_name, core::FsyncPolicy fsync);

  // What became of the lines of one Append: the first `kept` are in the file (and on the disk, if
  // the policy is kBatch); the others are not, and `problem` says why: what was done, on which
  // file, the system's text.
  struct Outcome {
    std::size_t kept = 0;
    std::string problem;
  };

  // Appends each value and a newline, with as few writes as the system allows, then syncs once. A
  // newline inside of a value (in JSON it can only be insignificant white space) becomes a space.
  Outcome Append(std::span<const std::string_view> values);

  // Opens the file, creates it where missing, and cuts off a last line without a newline: a record
  // whose writing was cut short, and which nobody was told was taken. The result is empty or the
  // problem; `cut_bytes` is what was cut.
  std::string Open(std::uint64_t* cut_bytes);

  // Gives the descriptor back; the next Append opens again.
  void Close() { file_.reset(); }
  bool is_open() const { return file_ != nullptr; }
  const std::string& path() const { return path_; }

 private:
  std::string EnsureOpen();
  std::size_t WriteWhole(std::span<const std::string_view> values, int* error);
  void AddLine(std::string_view value);
  std::string Problem(std::string_view what, int error) const;

  FileOps& ops_;
  const std::string folder_;
  const std::string path_;
  const core::FsyncPolicy fsync_;
  std::unique_ptr<AppendFile> file_;
  std::uint64_t good_bytes_ = 0;  // length of the whole lines
  bool torn_ = false;             // the file is longer than good_bytes_ and could not be cut yet
  std::vector<iovec> parts_;
};

}  // namespace sluice::produce
