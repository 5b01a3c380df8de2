#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "produce/file_ops.h"
#include "produce/spool_format.h"

namespace sluice::produce {

// Reads the records of one segment in order and steps over what is damaged. Holds a piece of the
// file in memory, as large as its largest record and at least kBlock. One thread.
class SpoolReader {
 public:
  static constexpr std::size_t kBlock = 256 * 1024;

  enum class Step : std::uint8_t {
    kRecord,
    kEnd,      // nothing more before `end`
    kDamaged,  // the bytes from damaged_begin() to offset() are no records
    kFailed,   // the file cannot be read: error()
  };

  // `offset` is where a record begins.
  SpoolReader(std::unique_ptr<AppendFile> file, std::uint32_t salt, std::uint64_t offset)
      : file_(std::move(file)), salt_(salt), offset_(offset) {}

  // The next record that ends at or before `end` (an offset in the file that only grows). Its
  // views hold until the next call. Damage reaches to the next whole record, or to `end`.
  Step Next(std::uint64_t end, SpoolRecord* record);

  // Behind what the last call returned.
  std::uint64_t offset() const { return offset_; }
  std::uint64_t damaged_begin() const { return damaged_begin_; }
  int error() const { return error_; }
  AppendFile& file() { return *file_; }

 private:
  bool Fill(std::size_t wanted, std::uint64_t end);
  Step SkipDamage(std::uint64_t end);
  Step Rewind();
  void Advance(std::size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  std::string_view ahead() const { return std::string_view(buffer_).substr(begin_); }

  const std::unique_ptr<AppendFile> file_;
  const std::uint32_t salt_;
  std::uint64_t offset_;
  std::string buffer_;  // what was read, from `begin_` on of `offset_`
  std::size_t begin_ = 0;
  std::uint64_t damaged_begin_ = 0;
  int error_ = 0;
};

}  // namespace sluice::produce
