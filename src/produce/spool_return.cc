#include "produce/spool_return.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "core/read_file.h"
#include "produce/spool_aside.h"
#include "produce/spool_checkpoint.h"
#include "produce/spool_inspect.h"
#include "produce/spool_log.h"

namespace sluice::produce {
namespace {

constexpr std::size_t kGroupRecords = 256;  // that share a sync

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Records whose bytes are owned, for the log.
class Group {
 public:
  void Add(const SpoolRecord& record) {
    SpoolRecord copy = record;
    copy.topic = Own(record.topic);
    copy.record.key = Own(record.record.key);
    copy.record.value = Own(record.record.value);
    records_.push_back(copy);
  }
  std::size_t size() const { return records_.size(); }

  // Returns errno.
  int AppendTo(SpoolLog& log) {
    std::size_t kept = 0;
    const int error = records_.empty() ? 0 : log.Append(records_, &kept);
    records_.clear();
    bytes_.clear();
    return error;
  }

 private:
  std::string_view Own(std::string_view text) { return bytes_.emplace_back(text); }

  std::deque<std::string> bytes_;
  std::vector<SpoolRecord> records_;
};

bool IsThere(FileOps& ops, const std::string& folder, std::string_view name) {
  std::vector<std::string> names;
  ops.ListFiles(folder, &names);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of the one file that is being put back, or else of the one that a replay made.
SpoolReturn ReturnFile(FileOps& ops, const std::string& folder, std::uint64_t segment_bytes) {
  SpoolReturn result;
  const std::string aside = folder + "/aside";
  const std::string refused = aside + '/' + std::string(kRefusedName);
  const std::string returning = aside + '/' + std::string(kReturningName);
  const auto failed = [&](const std::string& what, int error) {
    if (error != 0) result.problems.push_back(what + ": " + core::ErrnoText(error));
    return error != 0;
  };
  // Under another name first: a replay that refuses them again begins a new file.
  if (!IsThere(ops, aside, kReturningName)) {
    if (!IsThere(ops, aside, kRefusedName)) return result;
    if (failed(refused + " cannot be renamed", ops.Rename(refused, returning)) ||
        failed(aside, ops.SyncFolder(aside)))
      return result;
  }
  SpoolCheckpoint checkpoint;
  SpoolLog log({.folder = folder, .segment_bytes = segment_bytes, .now_ms = &NowMs}, ops);
  if (failed("the checkpoint cannot be read", checkpoint.Open(ops, folder))) return result;
  SpoolPosition done = checkpoint.current().done;
  SpoolLog::Recovery recovery;
  if (failed("the segments cannot be read", log.Open(&done, &recovery))) return result;
  Group group;
  int error = 0;
  const auto put = [&] {
    const std::size_t size = group.size();
    error = group.AppendTo(log);
    if (error == 0) result.records += size;
    return error == 0;
  };
  result.problems = ReadSpoolFile(ops, returning, [&](const SpoolRecord& record) {
    group.Add(record);
    return group.size() < kGroupRecords || put();
  });
  if (error == 0) put();
  if (error == 0) error = log.Seal();
  if (failed("the spool cannot be written", error)) return result;
  // What is damaged stays for a person.
  if (result.problems.empty()) failed(returning + " cannot be removed", ops.Remove(returning));
  return result;
}

}  // namespace

SpoolReturn ReturnSpoolAside(FileOps& ops, const std::string& folder, std::uint64_t segment_bytes) {
  const bool was_begun = IsThere(ops, folder + "/aside", kReturningName);
  SpoolReturn result = ReturnFile(ops, folder, segment_bytes);
  if (!was_begun || !result.problems.empty()) return result;
  SpoolReturn rest = ReturnFile(ops, folder, segment_bytes);
  rest.records += result.records;
  return rest;
}

}  // namespace sluice::produce
