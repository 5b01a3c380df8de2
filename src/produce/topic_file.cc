#include "produce/topic_file.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <system_error>

#include "core/log.h"

namespace sluice::produce {
namespace {

// iovec wants mutable bytes although a write never changes them.
iovec Part(std::string_view bytes) { return {const_cast<char*>(bytes.data()), bytes.size()}; }

// The length of `file` up to and including its last newline.
int WholeLines(AppendFile& file, std::uint64_t size, std::uint64_t* whole) {
  std::array<char, 65536> block;
  while (size > 0) {
    const std::size_t length = std::min<std::uint64_t>(size, block.size());
    if (int error = file.ReadAt(size - length, block.data(), length); error != 0) return error;
    for (std::size_t i = length; i > 0; --i) {
      if (block[i - 1] == '\n') {
        *whole = size - length + i;
        return 0;
      }
    }
    size -= length;
  }
  *whole = 0;
  return 0;
}

// Drops the first `count` bytes of parts[from…]; returns the first part that still has bytes.
std::size_t Advance(std::vector<iovec>& parts, std::size_t from, std::size_t count) {
  while (from < parts.size() && count >= parts[from].iov_len) count -= parts[from++].iov_len;
  if (count > 0) {
    parts[from].iov_base = static_cast<char*>(parts[from].iov_base) + count;
    parts[from].iov_len -= count;
  }
  return from;
}

}  // namespace

TopicFile::TopicFile(FileOps& ops, std::string folder, std::string_view file_name,
                     core::FsyncPolicy fsync)
    : ops_(ops),
      folder_(std::move(folder)),
      path_(folder_ + "/" + std::string(file_name)),
      fsync_(fsync) {}

std::string TopicFile::Problem(std::string_view what, int error) const {
  return std::string(what) + " " + path_ +
         " failed: " + std::error_code(error, std::generic_category()).message();
}

std::string TopicFile::Open(std::uint64_t* cut_bytes) {
  *cut_bytes = 0;
  std::unique_ptr<AppendFile> file;
  if (int error = ops_.Open(path_, &file); error != 0) return Problem("opening", error);
  std::uint64_t size = 0;
  std::uint64_t whole = 0;
  if (int error = file->Size(&size); error != 0) return Problem("reading the size of", error);
  if (int error = WholeLines(*file, size, &whole); error != 0) return Problem("reading", error);
  if (whole < size) {
    if (int error = file->Truncate(whole); error != 0)
      return Problem("cutting the torn line of", error);
    *cut_bytes = size - whole;
  }
  if (size == 0 && fsync_ == core::FsyncPolicy::kBatch) {
    // A file that may be new: without its folder entry a synced record would be lost with the
    // power.
    if (int error = ops_.SyncFolder(folder_); error != 0)
      return Problem("syncing the folder of", error);
  }
  good_bytes_ = whole;
  torn_ = false;
  file_ = std::move(file);
  return {};
}

std::string TopicFile::EnsureOpen() {
  if (file_ != nullptr && file_->Unlinked()) file_.reset();
  if (file_ == nullptr) {
    std::uint64_t cut_bytes = 0;
    std::string problem = Open(&cut_bytes);
    if (cut_bytes > 0) {
      core::Log(core::LogLevel::kWarn, "torn_line_cut", "cut an unfinished last line off " + path_,
                {{"bytes", static_cast<std::int64_t>(cut_bytes)}});
    }
    return problem;
  }
  if (torn_) {
    if (int error = file_->Truncate(good_bytes_); error != 0)
      return Problem("cutting the torn line of", error);
    torn_ = false;
  }
  // Somebody may have emptied the file meanwhile: appending goes on at its end, wherever that is
  // now.
  if (int error = file_->Size(&good_bytes_); error != 0)
    return Problem("reading the size of", error);
  return {};
}

void TopicFile::AddLine(std::string_view value) {
  for (std::size_t end; (end = value.find('\n')) != std::string_view::npos;) {
    if (end > 0) parts_.push_back(Part(value.substr(0, end)));
    parts_.push_back(Part(" "));
    value.remove_prefix(end + 1);
  }
  if (!value.empty()) parts_.push_back(Part(value));
  parts_.push_back(Part("\n"));
}

// Writes the lines; returns how many are whole in the file, all of them unless `error` is set.
// good_bytes_ is kept true.
std::size_t TopicFile::WriteWhole(std::span<const std::string_view> values, int* error) {
  parts_.clear();
  for (std::string_view value : values) AddLine(value);
  std::size_t written = 0;
  for (std::size_t from = 0; from < parts_.size() && *error == 0;) {
    const int count = static_cast<int>(std::min<std::size_t>(parts_.size() - from, IOV_MAX));
    std::size_t n = 0;
    *error = file_->Write(&parts_[from], count, &n);
    if (*error == 0 && n == 0) *error = EIO;  // would go on for ever
    written += n;
    from = Advance(parts_, from, n);
  }
  std::size_t whole = 0;
  std::size_t whole_bytes = 0;
  while (whole < values.size() && whole_bytes + values[whole].size() + 1 <= written) {
    whole_bytes += values[whole].size() + 1;
    ++whole;
  }
  good_bytes_ += whole_bytes;
  torn_ = whole_bytes < written;
  return whole;
}

TopicFile::Outcome TopicFile::Append(std::span<const std::string_view> values) {
  Outcome outcome;
  outcome.problem = EnsureOpen();
  if (!outcome.problem.empty()) return outcome;
  const std::uint64_t before_bytes = good_bytes_;
  int error = 0;
  outcome.kept = WriteWhole(values, &error);
  if (error != 0) outcome.problem = Problem("appending to", error);
  if (torn_ && file_->Truncate(good_bytes_) == 0) torn_ = false;
  if (fsync_ == core::FsyncPolicy::kBatch && outcome.kept > 0) {
    if (error = file_->Sync(); error != 0) {
      // The kernel may have dropped the pages and call them clean: nothing of this group can be
      // vouched for, and a second sync would lie. Take the group out again and start over with a
      // fresh descriptor.
      outcome.problem = Problem("syncing", error);
      outcome.kept = 0;
      good_bytes_ = before_bytes;
      torn_ = file_->Truncate(good_bytes_) != 0;
      if (!torn_) Close();
    }
  }
  return outcome;
}

}  // namespace sluice::produce
