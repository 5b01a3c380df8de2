#include "produce/spool_inspect.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "produce/spool_aside.h"
#include "produce/spool_reader.h"

namespace sluice::produce {
namespace {

constexpr std::size_t kCheckpointPlace = 4096;

std::string Text(int error) { return std::error_code(error, std::generic_category()).message(); }

std::string At(const std::string& path, std::uint64_t offset, const std::string& text) {
  return path + ", byte " + std::to_string(offset) + ": " + text;
}

// One segment file: what its two ends say, and a walk over what is between.
class SegmentFile {
 public:
  SegmentFile(FileOps& ops, std::string path) : ops_(ops), path_(std::move(path)) {}

  // False if the file cannot be read.
  bool Look(std::vector<std::string>& problems) {
    std::unique_ptr<AppendFile> file;
    int error = ops_.Open(path_, &file);
    if (error == 0) error = file->Size(&bytes);
    std::string begin(std::min<std::uint64_t>(bytes, kSegmentHeaderBytes), '\0');
    std::string end(bytes >= kSegmentHeaderBytes + kSegmentFooterBytes ? kSegmentFooterBytes : 0,
                    '\0');
    if (error == 0) error = file->ReadAt(0, begin.data(), begin.size());
    if (error == 0 && !end.empty())
      error = file->ReadAt(bytes - end.size(), end.data(), end.size());
    if (error != 0) {
      problems.push_back(path_ + " cannot be read: " + Text(error));
      return false;
    }
    header = DecodeHeader(begin);
    footer = DecodeFooter(end);
    if (footer && footer->data_end != bytes - end.size()) footer.reset();
    data_end = footer ? footer->data_end : bytes;
    if (!header) problems.push_back(At(path_, 0, "the header is damaged"));
    return true;
  }

  // Calls `see` for each record from `offset` on; false once it returns false.
  bool Walk(std::uint64_t offset, const std::function<bool(const SpoolRecord&)>& see,
            std::vector<std::string>& problems) {
    std::unique_ptr<AppendFile> file;
    if (int error = ops_.Open(path_, &file); error != 0) {
      problems.push_back(path_ + " cannot be read: " + Text(error));
      return true;
    }
    const std::uint32_t salt = header ? header->salt : footer ? footer->salt : 0;
    SpoolReader reader(std::move(file), salt, offset);
    SpoolRecord record;
    for (;;) {
      switch (reader.Next(data_end, &record)) {
        case SpoolReader::Step::kRecord:
          if (!see(record)) return false;
          break;
        case SpoolReader::Step::kEnd:
          return true;
        case SpoolReader::Step::kFailed:
          problems.push_back(path_ + " cannot be read: " + Text(reader.error()));
          return true;
        case SpoolReader::Step::kDamaged: {
          const bool tail = reader.offset() == data_end && !footer;
          problems.push_back(At(path_, reader.damaged_begin(),
                                std::to_string(reader.offset() - reader.damaged_begin()) +
                                    " bytes are " +
                                    (tail ? "an unfinished or damaged end" : "no records")));
          break;
        }
      }
    }
  }

  std::optional<SegmentHeader> header;
  std::optional<SegmentFooter> footer;
  std::uint64_t bytes = 0;
  std::uint64_t data_end = 0;

 private:
  FileOps& ops_;
  const std::string path_;
};

std::vector<std::uint64_t> Numbers(FileOps& ops, const std::string& folder,
                                   std::vector<std::string>& problems) {
  std::vector<std::string> names;
  if (int error = ops.ListFiles(folder, &names); error != 0)
    problems.push_back(folder + " cannot be read: " + Text(error));
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    if (const auto number = SegmentNumber(name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// The checkpoint, if there is a whole one; every bit of the file is one that was written.
Checkpoint ReadCheckpoint(FileOps& ops, const std::string& folder,
                          std::vector<std::string>& problems) {
  const std::string path = folder + "/checkpoint";
  Checkpoint checkpoint;
  std::vector<std::string> names;
  ops.ListFiles(folder, &names);
  if (std::find(names.begin(), names.end(), "checkpoint") == names.end()) return checkpoint;
  std::unique_ptr<AppendFile> file;
  std::string text;
  int error = ops.Open(path, &file);
  std::uint64_t bytes = 0;
  if (error == 0) error = file->Size(&bytes);
  text.resize(bytes);
  if (error == 0) error = file->ReadAt(0, text.data(), text.size());
  if (error != 0) problems.push_back(path + " cannot be read: " + Text(error));
  const auto blank = [](std::string_view part) {
    return part.find_first_not_of('\0') == std::string_view::npos;
  };
  for (std::size_t at = 0; at < text.size(); at += kCheckpointPlace) {
    const std::string_view place = std::string_view(text).substr(at, kCheckpointPlace);
    const auto read = DecodeCheckpoint(place.substr(0, kCheckpointBytes));
    const bool whole =
        read ? place.size() == kCheckpointPlace && blank(place.substr(kCheckpointBytes))
             : blank(place);
    if (!whole) problems.push_back(At(path, at, "this checkpoint is damaged"));
    if (read && read->version >= checkpoint.version) checkpoint = *read;
  }
  return checkpoint;
}

}  // namespace

SpoolContents InspectSpool(FileOps& ops, const std::string& folder, SpoolDepth depth) {
  SpoolContents contents;
  contents.checkpoint = ReadCheckpoint(ops, folder, contents.problems);
  const SpoolPosition& done = contents.checkpoint.done;
  for (const std::uint64_t number : Numbers(ops, folder, contents.problems)) {
    SpoolContents::Segment segment;
    segment.path = folder + '/' + SegmentName(number);
    segment.number = number;
    SegmentFile file(ops, segment.path);
    if (!file.Look(contents.problems)) continue;
    segment.bytes = file.bytes;
    segment.sealed = file.footer.has_value();
    if (file.header && file.header->number != number)
      contents.problems.push_back(At(segment.path, 0, "its header has another segment's number"));
    std::uint64_t seen = 0;
    std::uint64_t waiting = 0;
    if (depth == SpoolDepth::kRecords || !file.footer) {
      std::vector<std::string> ignored;
      file.Walk(
          kSegmentHeaderBytes,
          [&](const SpoolRecord& record) {
            if (seen++ == 0) segment.first_ms = record.spooled_ms;
            segment.last_ms = record.spooled_ms;
            waiting += record.sequence >= done.sequence ? 1 : 0;
            return true;
          },
          depth == SpoolDepth::kRecords ? contents.problems : ignored);
      segment.records = seen;
    }
    if (file.footer) {
      segment.records = file.footer->records;
      segment.first_ms = file.footer->first_ms;
      segment.last_ms = file.footer->last_ms;
      const std::uint64_t end = file.footer->first_sequence + segment.records;
      waiting =
          end > done.sequence ? end - std::max(done.sequence, file.footer->first_sequence) : 0;
    }
    if (file.footer && depth == SpoolDepth::kRecords && seen != file.footer->records) {
      contents.problems.push_back(segment.path + " has " + std::to_string(seen) +
                                  " whole records of " + std::to_string(file.footer->records));
    }
    if (number >= done.segment) contents.waiting += waiting;
    contents.segments.push_back(std::move(segment));
  }
  std::vector<std::string> names;
  ops.ListFiles(folder + "/aside", &names);
  for (const std::string& name : names) {
    std::unique_ptr<AppendFile> file;
    std::uint64_t bytes = 0;
    if (ops.Open(folder + "/aside/" + name, &file) == 0 && file->Size(&bytes) == 0)
      contents.aside_bytes += bytes;
  }
  return contents;
}

std::vector<std::string> ReadSpool(FileOps& ops, const std::string& folder,
                                   const std::function<bool(const SpoolRecord&)>& see) {
  std::vector<std::string> problems;
  const Checkpoint checkpoint = ReadCheckpoint(ops, folder, problems);
  for (const std::uint64_t number : Numbers(ops, folder, problems)) {
    if (number < checkpoint.done.segment) continue;
    SegmentFile file(ops, folder + '/' + SegmentName(number));
    if (!file.Look(problems)) continue;
    const bool first = number == checkpoint.done.segment;
    if (!file.Walk(first ? checkpoint.done.offset : kSegmentHeaderBytes, see, problems)) break;
  }
  return problems;
}

std::vector<std::string> ReadSpoolFile(FileOps& ops, const std::string& path,
                                       const std::function<bool(const SpoolRecord&)>& see) {
  std::vector<std::string> problems;
  SegmentFile file(ops, path);
  if (file.Look(problems)) file.Walk(kSegmentHeaderBytes, see, problems);
  return problems;
}

std::vector<std::string> ReadSpoolAside(FileOps& ops, const std::string& folder,
                                        const std::function<bool(const SpoolRecord&)>& see) {
  std::vector<std::string> problems;
  std::vector<std::string> names;
  ops.ListFiles(folder + "/aside", &names);
  for (const std::string_view name : {kReturningName, kRefusedName}) {
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    SegmentFile file(ops, folder + "/aside/" + std::string(name));
    if (file.Look(problems) && !file.Walk(kSegmentHeaderBytes, see, problems)) break;
  }
  return problems;
}

}  // namespace sluice::produce
