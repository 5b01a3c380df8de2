#include "produce/spool_reader.h"

#include <algorithm>

namespace sluice::produce {

// Has at least `wanted` bytes from offset_ on in the buffer, or all there are before `end`. False
// if the file cannot be read.
bool SpoolReader::Fill(std::size_t wanted, std::uint64_t end) {
  const std::size_t have = buffer_.size() - begin_;
  const std::uint64_t left = end > offset_ + have ? end - offset_ - have : 0;
  if (have >= wanted || left == 0) return true;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t more = std::min<std::uint64_t>(left, std::max(wanted - have, kBlock));
  buffer_.resize(have + more);
  error_ = file_->ReadAt(offset_ + have, buffer_.data() + have, more);
  if (error_ == 0) return true;
  buffer_.resize(have);
  return false;
}

SpoolReader::Step SpoolReader::Next(std::uint64_t end, SpoolRecord* record) {
  if (offset_ >= end) return Step::kEnd;
  if (!Fill(kRecordHeaderBytes, end)) return Step::kFailed;
  std::size_t size = 0;
  Decoded decoded = DecodeRecord(ahead(), salt_, record, &size);
  if (decoded == Decoded::kNeedsMore && offset_ + size <= end) {
    if (!Fill(size, end)) return Step::kFailed;
    decoded = DecodeRecord(ahead(), salt_, record, &size);
  }
  if (decoded != Decoded::kRecord) return SkipDamage(end);
  Advance(size);
  return Step::kRecord;
}

// Looks for the next place where a whole record begins.
SpoolReader::Step SpoolReader::SkipDamage(std::uint64_t end) {
  damaged_begin_ = offset_;
  SpoolRecord record;
  std::size_t size = 0;
  Advance(1);
  while (offset_ < end) {
    if (!Fill(kRecordHeaderBytes, end)) return Rewind();
    const std::size_t found = ahead().find(RecordMagic());
    if (found == std::string_view::npos) {
      if (offset_ + ahead().size() >= end) break;
      Advance(ahead().size() - (RecordMagic().size() - 1));  // one may begin in the last bytes
      continue;
    }
    Advance(found);
    Decoded decoded = DecodeRecord(ahead(), salt_, &record, &size);
    if (decoded == Decoded::kNeedsMore && offset_ + size <= end) {
      if (!Fill(size, end)) return Rewind();
      decoded = DecodeRecord(ahead(), salt_, &record, &size);
    }
    if (decoded == Decoded::kRecord) return Step::kDamaged;
    Advance(1);
  }
  offset_ = end;
  buffer_.clear();
  begin_ = 0;
  return Step::kDamaged;
}

SpoolReader::Step SpoolReader::Rewind() {
  offset_ = damaged_begin_;
  buffer_.clear();
  begin_ = 0;
  return Step::kFailed;
}

}  // namespace sluice::produce
