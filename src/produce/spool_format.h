#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "produce/producer.h"

// What stands in the files of the spool, byte by byte: docs/spool-format.md. Pure functions, any
// thread.
namespace sluice::produce {

inline constexpr std::size_t kSegmentHeaderBytes = 64;
inline constexpr std::size_t kSegmentFooterBytes = 64;
inline constexpr std::size_t kRecordHeaderBytes = 48;
inline constexpr std::size_t kCheckpointBytes = 64;
inline constexpr std::size_t kMaxSpoolTopicBytes = 1024;
inline constexpr std::size_t kMaxSpoolPartBytes = std::size_t{1} << 30;  // of a key or a value

// Whether a record may be in its topic already: it was sent and not answered.
enum class Written : std::uint8_t { kNo, kPerhaps };

// One record of the spool. The views are those of whoever made it.
struct SpoolRecord {
  std::uint64_t sequence = 0;  // counts all records of a spool, from 1
  std::int64_t spooled_ms = 0;
  DeliveryMode mode = DeliveryMode::kHasty;
  Written written = Written::kNo;
  std::string_view topic;
  Record record;
};

struct SegmentHeader {
  std::uint64_t number = 0;
  std::uint64_t first_sequence = 0;
  std::int64_t created_ms = 0;
  std::uint32_t salt = 0;  // of the records' checksums
};

// The end of a segment that is complete: what a start has to know without reading the rest.
struct SegmentFooter {
  std::uint64_t first_sequence = 0;
  std::uint64_t records = 0;
  std::uint64_t data_end = 0;  // offset of the footer
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  std::uint32_t salt = 0;
};

// A place between two records.
struct SpoolPosition {
  std::uint64_t segment = 1;
  std::uint64_t offset = kSegmentHeaderBytes;
  std::uint64_t sequence = 1;  // of the record that follows
};

struct Checkpoint {
  SpoolPosition done;         // everything before is delivered
  std::uint64_t ceiling = 1;  // no record from here on was ever sent
  std::uint64_t version = 0;  // the higher of two counts
};

std::size_t EncodedSize(const SpoolRecord& record);
void AppendEncoded(std::string& out, const SpoolRecord& record, std::uint32_t salt);
void AppendEncoded(std::string& out, const SegmentHeader& header);
void AppendEncoded(std::string& out, const SegmentFooter& footer);
std::string Encode(const Checkpoint& checkpoint);

enum class Decoded : std::uint8_t { kRecord, kNeedsMore, kBad };

// Reads the record at the beginning of `bytes`; its views point into them. `size` is the size of
// the record, also with kNeedsMore: it would be a record if that many bytes were there and right.
Decoded DecodeRecord(std::string_view bytes, std::uint32_t salt, SpoolRecord* record,
                     std::size_t* size);

// Empty if the bytes are not exactly that, with the right checksum.
std::optional<SegmentHeader> DecodeHeader(std::string_view bytes);
std::optional<SegmentFooter> DecodeFooter(std::string_view bytes);
std::optional<Checkpoint> DecodeCheckpoint(std::string_view bytes);

// What every record begins with.
std::string_view RecordMagic();

// "0000000000000007.spool", and back; empty for other names.
std::string SegmentName(std::uint64_t number);
std::optional<std::uint64_t> SegmentNumber(std::string_view name);

}  // namespace sluice::produce
