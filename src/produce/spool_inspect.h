#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "produce/file_ops.h"
#include "produce/spool_format.h"

namespace sluice::produce {

// What is in a spool that nobody has open, for the commands. Nothing is changed.
struct SpoolContents {
  struct Segment {
    std::string path;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;  // of a sealed one as its footer says, else what was read
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    bool sealed = false;
  };
  std::vector<Segment> segments;  // in order
  Checkpoint checkpoint;
  std::uint64_t waiting = 0;  // records behind the checkpoint
  std::uint64_t aside_bytes = 0;
  std::vector<std::string> problems;  // one sentence each, with file and offset
};

enum class SpoolDepth : std::uint8_t {
  kFooters,  // what the ends of the files say
  kRecords,  // every byte is read and checked
};

// `folder` exists. An unreadable file is a problem, not an end.
SpoolContents InspectSpool(FileOps& ops, const std::string& folder, SpoolDepth depth);

// Calls `see` with each record behind the checkpoint, in order, until it returns false. Returns
// what could not be read, one sentence each.
std::vector<std::string> ReadSpool(FileOps& ops, const std::string& folder,
                                   const std::function<bool(const SpoolRecord&)>& see);

// The same for every record of one file.
std::vector<std::string> ReadSpoolFile(FileOps& ops, const std::string& path,
                                       const std::function<bool(const SpoolRecord&)>& see);

// The same for the records that were set aside.
std::vector<std::string> ReadSpoolAside(FileOps& ops, const std::string& folder,
                                        const std::function<bool(const SpoolRecord&)>& see);

}  // namespace sluice::produce
