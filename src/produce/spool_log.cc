#include "produce/spool_log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>
#include <utility>
#include <vector>

#include "produce/spool_reader.h"

namespace sluice::produce {
namespace {

constexpr std::size_t kProbeBytes = 1u << 20;
constexpr std::size_t kWriteBytes = 1u << 20;  // how much is encoded before it is written

}  // namespace

SpoolLog::SpoolLog(Options options, FileOps& ops) : options_(std::move(options)), ops_(ops) {}

std::string SpoolLog::PathOf(std::uint64_t number) const {
  return options_.folder + '/' + SegmentName(number);
}

int SpoolLog::Open(SpoolPosition* done, Recovery* recovery) {
  std::vector<std::string> names;
  if (int error = ops_.ListFiles(options_.folder, &names); error != 0) return error;
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    if (const auto number = SegmentNumber(name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  segments_.clear();
  bytes_ = 0;
  next_number_ = done->segment + (done->offset > kSegmentHeaderBytes ? 1 : 0);
  next_sequence_ = done->sequence;
  for (const std::uint64_t number : numbers) {
    next_number_ = std::max(next_number_, number + 1);
    Segment segment;
    if (number >= done->segment) {
      if (int error = Look(number, number == numbers.back(), &segment, recovery); error != 0)
        return error;
    }
    if (segment.records == 0 && segment.file_bytes <= kSegmentHeaderBytes) {
      if (int error = ops_.Remove(PathOf(number)); error != 0) return error;
      continue;
    }
    next_sequence_ = std::max(next_sequence_, segment.first_sequence + segment.records);
    bytes_ += segment.file_bytes;
    segments_.emplace(number, segment);
  }
  // A place in a segment that is gone would fall into the middle of the next one of that number.
  if (!segments_.contains(done->segment)) {
    const bool empty = segments_.empty();
    *done = {.segment = empty ? next_number_ : segments_.begin()->first,
             .sequence = empty ? next_sequence_ : segments_.begin()->second.first_sequence};
  }
  return 0;
}

// Fills in what is known about a segment that was there at the start, and makes it a sealed one.
int SpoolLog::Look(std::uint64_t number, bool last, Segment* segment, Recovery* recovery) {
  std::unique_ptr<AppendFile> file;
  if (int error = OpenSegment(number, &file); error != 0) return error;
  segment->number = number;
  segment->sealed = true;
  if (int error = file->Size(&segment->file_bytes); error != 0) return error;
  std::array<char, kSegmentFooterBytes> end{};
  if (segment->file_bytes >= kSegmentHeaderBytes + end.size()) {
    const std::uint64_t at = segment->file_bytes - end.size();
    if (int error = file->ReadAt(at, end.data(), end.size()); error != 0) return error;
    const auto footer = DecodeFooter({end.data(), end.size()});
    if (footer && footer->data_end == at) {
      segment->first_sequence = footer->first_sequence;
      segment->records = footer->records;
      segment->data_end = footer->data_end;
      segment->first_ms = footer->first_ms;
      segment->last_ms = footer->last_ms;
      segment->salt = footer->salt;
      return 0;
    }
  }
  ++recovery->unsealed;
  bool whole = false;
  if (int error = ReadHeader(*file, segment, &whole); error != 0) return error;
  file.reset();
  if (int error = Scan(last && whole ? Tail::kTorn : Tail::kDamaged, segment, recovery); error != 0)
    return error;
  if (segment->records == 0 && segment->file_bytes <= kSegmentHeaderBytes) return 0;
  if (int error = OpenSegment(number, &file); error != 0) return error;
  return WriteFooter(*file, segment);
}

int SpoolLog::ReadHeader(AppendFile& file, Segment* segment, bool* whole) {
  std::array<char, kSegmentHeaderBytes> begin{};
  *whole = segment->file_bytes < begin.size();
  if (*whole) return 0;
  if (int error = file.ReadAt(0, begin.data(), begin.size()); error != 0) return error;
  const auto header = DecodeHeader({begin.data(), begin.size()});
  if (!header) return 0;  // no record of it will have the right checksum: all of it is damaged
  *whole = true;
  segment->salt = header->salt;
  segment->first_sequence = header->first_sequence;
  return 0;
}

// Reads a segment without a footer. What is behind the last whole record of the last one was never
// confirmed, and is cut off; elsewhere it is damage, which the replay sets aside.
int SpoolLog::Scan(Tail tail, Segment* segment, Recovery* recovery) {
  std::unique_ptr<AppendFile> file;
  if (int error = OpenSegment(segment->number, &file); error != 0) return error;
  const std::uint64_t end = segment->file_bytes;
  std::uint64_t good_end = std::min<std::uint64_t>(end, kSegmentHeaderBytes);
  SpoolReader reader(std::move(file), segment->salt, good_end);
  SpoolRecord record;
  for (;;) {
    const SpoolReader::Step step = reader.Next(end, &record);
    if (step == SpoolReader::Step::kFailed) return reader.error();
    if (step == SpoolReader::Step::kEnd) break;
    if (step == SpoolReader::Step::kDamaged) continue;
    if (segment->records == 0) {
      segment->first_ms = record.spooled_ms;
      segment->first_sequence = record.sequence;
    }
    segment->records = record.sequence - segment->first_sequence + 1;
    segment->last_ms = record.spooled_ms;
    good_end = reader.offset();
  }
  segment->data_end = end;
  if (tail == Tail::kDamaged || (good_end == end && segment->records > 0)) return 0;
  recovery->torn_bytes += end - good_end;
  segment->data_end = segment->file_bytes = good_end;
  return reader.file().Truncate(good_end);
}

int SpoolLog::WriteFooter(AppendFile& file, Segment* segment) {
  std::string footer;
  AppendEncoded(footer, SegmentFooter{.first_sequence = segment->first_sequence,
                                      .records = segment->records,
                                      .data_end = segment->data_end,
                                      .first_ms = segment->first_ms,
                                      .last_ms = segment->last_ms,
                                      .salt = segment->salt});
  if (int error = Write(file, footer); error != 0) return error;
  segment->file_bytes = segment->data_end + footer.size();
  return options_.fsync == core::FsyncPolicy::kBatch ? file.Sync() : 0;
}

int SpoolLog::Write(AppendFile& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    std::size_t written = 0;
    if (int error = file.Write(&part, 1, &written); error != 0) return error;
    bytes.remove_prefix(written);
  }
  return 0;
}

int SpoolLog::Begin() {
  if (active_ != nullptr) return 0;
  const std::uint64_t number = next_number_++;
  if (int error = ops_.Open(PathOf(number), &active_); error != 0) return error;
  writing_ = {.number = number, .first_sequence = next_sequence(), .first_ms = options_.now_ms()};
  writing_.salt = std::random_device()();
  writing_.data_end = kSegmentHeaderBytes;
  name_synced_ = false;
  buffer_.clear();
  AppendEncoded(buffer_, SegmentHeader{.number = number,
                                       .first_sequence = writing_.first_sequence,
                                       .created_ms = writing_.first_ms,
                                       .salt = writing_.salt});
  return Write(*active_, buffer_);
}

// What was written is on disk: now it may be read and counts.
int SpoolLog::Publish() {
  if (options_.fsync == core::FsyncPolicy::kBatch) {
    if (int error = active_->Sync(); error != 0) return error;
    if (!name_synced_) {
      if (int error = ops_.SyncFolder(options_.folder); error != 0) return error;
      name_synced_ = true;
    }
  }
  writing_.file_bytes = writing_.data_end;
  const std::lock_guard lock(mutex_);
  Segment& published = segments_[writing_.number];
  bytes_ += writing_.file_bytes - published.file_bytes;
  published = writing_;
  next_sequence_ = writing_.first_sequence + writing_.records;
  return 0;
}

int SpoolLog::Append(std::span<SpoolRecord> records, std::size_t* kept) {
  *kept = 0;
  std::size_t next = 0;
  int error = 0;
  while (error == 0 && *kept < records.size()) {
    error = Begin();
    const std::int64_t now = options_.now_ms();
    while (error == 0 && next < records.size() && writing_.data_end < options_.segment_bytes) {
      buffer_.clear();
      while (next < records.size() && buffer_.size() < kWriteBytes &&
             writing_.data_end + buffer_.size() < options_.segment_bytes) {
        records[next].sequence = writing_.first_sequence + writing_.records++;
        records[next].spooled_ms = now;
        AppendEncoded(buffer_, records[next++], writing_.salt);
      }
      writing_.last_ms = now;
      error = Write(*active_, buffer_);
      writing_.data_end += buffer_.size();
    }
    if (error == 0) error = Publish();
    if (error == 0) *kept = next;
    if (error == 0 && writing_.data_end >= options_.segment_bytes) error = Seal();
  }
  if (error != 0) Abandon();
  return error;
}

int SpoolLog::Seal() {
  if (active_ == nullptr) return 0;
  int error = 0;
  if (writing_.records > 0) error = WriteFooter(*active_, &writing_);
  if (error != 0) {
    Abandon();
    return error;
  }
  active_.reset();
  const std::lock_guard lock(mutex_);
  Segment& published = segments_[writing_.number];
  bytes_ += writing_.file_bytes - published.file_bytes;
  published = writing_;
  published.sealed = true;
  return 0;
}

// After a failure nothing more is appended to a segment: what it holds on disk stays, the rest is
// taken off if that is possible.
void SpoolLog::Abandon() {
  if (active_ == nullptr) return;
  std::uint64_t end = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto at = segments_.find(writing_.number);
    if (at != segments_.end()) {
      at->second.sealed = true;
      end = at->second.data_end;
    }
  }
  if (end == 0) {
    active_.reset();
    ops_.Remove(PathOf(writing_.number));
    return;
  }
  active_->Truncate(end);
  active_.reset();
}

int SpoolLog::Probe() {
  const std::string path = options_.folder + "/probe";
  std::unique_ptr<AppendFile> file;
  if (int error = ops_.Open(path, &file); error != 0) return error;
  int error = Write(*file, std::string(kProbeBytes, '\0'));
  if (error == 0) error = file->Sync();
  ops_.Remove(path);
  return error;
}

std::optional<SpoolLog::Segment> SpoolLog::From(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto at = segments_.lower_bound(number);
  if (at == segments_.end()) return std::nullopt;
  return at->second;
}

int SpoolLog::OpenSegment(std::uint64_t number, std::unique_ptr<AppendFile>* file) {
  return ops_.Open(PathOf(number), file);
}

int SpoolLog::Remove(std::uint64_t number) {
  if (int error = ops_.Remove(PathOf(number)); error != 0 && error != ENOENT) return error;
  const std::lock_guard lock(mutex_);
  const auto at = segments_.find(number);
  if (at == segments_.end()) return 0;
  bytes_ -= at->second.file_bytes;
  segments_.erase(at);
  return 0;
}

int SpoolLog::Move(std::uint64_t number, const std::string& path) {
  if (int error = ops_.Rename(PathOf(number), path); error != 0) return error;
  return Remove(number);
}

std::uint64_t SpoolLog::next_sequence() const {
  const std::lock_guard lock(mutex_);
  return next_sequence_;
}

std::uint64_t SpoolLog::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t SpoolLog::segments() const {
  const std::lock_guard lock(mutex_);
  return segments_.size();
}

}  // namespace sluice::produce
