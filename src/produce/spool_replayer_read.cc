#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/log.h"
#include "produce/spool_replayer_impl.h"

// How the replayer reads: segment by segment, past what is damaged.
namespace sluice::produce {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = 1u << 20;
constexpr int kMaxReadFailures = 3;

// The beginning of the segment that follows, whatever could be read of this one.
SpoolPosition EndOf(const SpoolLog::Segment& segment) {
  return {.segment = segment.number + 1, .sequence = segment.first_sequence + segment.records};
}

}  // namespace

// Has the reader at the first segment from `next_` on; false if there is none.
bool SpoolReplayer::OpenReader() {
  if (reader_ != nullptr) return true;
  const auto segment = log_.From(next_.segment);
  if (!segment) return false;
  if (segment->number != next_.segment)
    next_ = {.segment = segment->number, .sequence = segment->first_sequence};
  std::unique_ptr<AppendFile> file;
  if (int error = log_.OpenSegment(segment->number, &file); error != 0) {
    SetProblem("the spool's segment " + std::to_string(segment->number) +
               " cannot be opened: " + core::ErrnoText(error));
    resume_at_ = steady_clock::now() + kReplayBackoff;
    return false;
  }
  reader_ = std::make_unique<SpoolReader>(std::move(file), segment->salt, next_.offset);
  return true;
}

// Reads up to `most` records of one segment; false if there is nothing to read now.
bool SpoolReplayer::ReadChunk(Chunk& chunk, std::size_t most) {
  if (!OpenReader()) return false;
  auto segment = log_.From(next_.segment);
  if (!segment || segment->number != next_.segment) return false;
  const std::uint64_t begin = next_.offset;
  struct Place {
    std::size_t topic, key, value;  // offsets in `bytes`
  };
  std::vector<Place> places;
  SpoolRecord record;
  bool failed = false;
  while (chunk.items.size() < most && chunk.bytes.size() < kChunkBytes) {
    const SpoolReader::Step step = reader_->Next(segment->data_end, &record);
    failed = step == SpoolReader::Step::kFailed;
    if (step == SpoolReader::Step::kDamaged) OnDamage();
    if (failed || step == SpoolReader::Step::kEnd) break;
    if (step == SpoolReader::Step::kDamaged) continue;
    places.push_back({chunk.bytes.size(), chunk.bytes.size() + record.topic.size(),
                      chunk.bytes.size() + record.topic.size() + record.record.key.size()});
    chunk.bytes.append(record.topic).append(record.record.key).append(record.record.value);
    chunk.items.push_back({.topic_name = record.topic,
                           .record = record.record,
                           .sequence = record.sequence,
                           .spooled_ms = record.spooled_ms,
                           .mode = record.mode});
    next_.sequence = record.sequence + 1;
    if (record.sequence < known_ceiling_ || record.written == Written::kPerhaps)
      metrics_.duplicates->Increment();
  }
  const std::string_view bytes = chunk.bytes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Chunk::Item& item = chunk.items[i];
    item.topic_name = bytes.substr(places[i].topic, item.topic_name.size());
    item.record.key = bytes.substr(places[i].key, item.record.key.size());
    item.record.value = bytes.substr(places[i].value, item.record.value.size());
    item.topic = target_.OpenTopic(item.topic_name);
  }
  next_.offset = reader_->offset();
  if (failed) OnUnreadable();
  if (!failed) read_failures_ = 0;
  if (segment->sealed && reader_ != nullptr && next_.offset >= segment->data_end) {
    reader_.reset();
    next_ = EndOf(*segment);
    chunk.end = next_;
    return true;
  }
  chunk.end = next_;
  return next_.offset != begin;
}

void SpoolReplayer::OnDamage() {
  metrics_.damaged->Increment();
  const std::uint64_t begin = reader_->damaged_begin();
  const int error = aside_.KeepDamaged(next_.segment, reader_->file(), begin, reader_->offset());
  core::Log(core::LogLevel::kError, "spool_damaged",
            error == 0 ? "A part of a spool segment is damaged; it was set aside."
                       : "A part of a spool segment is damaged and cannot be set aside: " +
                             core::ErrnoText(error),
            {{"segment", static_cast<std::int64_t>(next_.segment)},
             {"offset", static_cast<std::int64_t>(begin)},
             {"bytes", static_cast<std::int64_t>(reader_->offset() - begin)}});
}

// A disk that does not give a segment must not hold up the others for ever.
void SpoolReplayer::OnUnreadable() {
  const std::uint64_t number = next_.segment;
  const std::string text = "the spool's segment " + std::to_string(number) +
                           " cannot be read: " + core::ErrnoText(reader_->error());
  resume_at_ = steady_clock::now() + kReplayBackoff;
  reader_.reset();
  SetProblem(text);
  if (++read_failures_ < kMaxReadFailures) return;
  read_failures_ = 0;
  metrics_.damaged->Increment();
  const auto segment = log_.From(number);
  if (int error = log_.Move(number, aside_.UnreadablePath(number)); error != 0)
    return SetProblem(text + ", nor be set aside: " + core::ErrnoText(error));
  core::Log(core::LogLevel::kError, "spool_damaged", "A segment was set aside: " + text);
  if (segment) next_ = EndOf(*segment);
}

}  // namespace sluice::produce
