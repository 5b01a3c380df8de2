#include "produce/spool_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "produce/crc32c.h"

namespace sluice::produce {
namespace {

constexpr std::string_view kSuffix = ".spool";
constexpr std::size_t kNumberDigits = 16;
constexpr std::uint32_t kFormatVersion = 1;
constexpr std::string_view kHeaderMagic = "SLUSPOOL";
constexpr std::string_view kFooterMagic = "SLUSEALD";
constexpr std::string_view kCheckpointMagic = "SLUCHECK";
constexpr std::string_view kRecordMagic = "\xf5Rec";  // no UTF-8, so in no event

constexpr unsigned kHastyFlag = 1;
constexpr unsigned kPerhapsFlag = 2;
constexpr unsigned kKeyFlag = 4;

// Little-endian, as the machines are that this runs on.
template <class T>
void Put(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

template <class T>
T Get(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// The frame of what has a fixed size: magic (8), CRC of all that follows it (4), version (4).
constexpr std::size_t kCrcAt = 8;
constexpr std::size_t kBodyAt = 16;

void CloseFrame(std::string& frame, std::size_t size) {
  frame.resize(size, '\0');
  const std::uint32_t crc = Crc32c(std::string_view(frame).substr(kCrcAt + 4));
  std::memcpy(frame.data() + kCrcAt, &crc, sizeof(crc));
}

std::string OpenFrame(std::string_view magic) {
  std::string frame(magic);
  Put<std::uint32_t>(frame, 0);
  Put<std::uint32_t>(frame, kFormatVersion);
  return frame;
}

bool IsFrame(std::string_view bytes, std::string_view magic, std::size_t size) {
  return bytes.size() == size && bytes.starts_with(magic) &&
         Get<std::uint32_t>(bytes, kCrcAt) == Crc32c(bytes.substr(kCrcAt + 4)) &&
         Get<std::uint32_t>(bytes, kCrcAt + 4) == kFormatVersion;
}

}  // namespace

std::string_view RecordMagic() { return kRecordMagic; }

std::size_t EncodedSize(const SpoolRecord& record) {
  return kRecordHeaderBytes + record.topic.size() +
         (record.record.has_key ? record.record.key.size() : 0) + record.record.value.size();
}

void AppendEncoded(std::string& out, const SpoolRecord& record, std::uint32_t salt) {
  const std::size_t begin = out.size();
  const std::string_view key = record.record.has_key ? record.record.key : std::string_view();
  const unsigned flags = (record.mode == DeliveryMode::kHasty ? kHastyFlag : 0) |
                         (record.written == Written::kPerhaps ? kPerhapsFlag : 0) |
                         (record.record.has_key ? kKeyFlag : 0);
  out.append(kRecordMagic);
  Put<std::uint32_t>(out, 0);
  Put<std::uint32_t>(out, static_cast<std::uint32_t>(record.record.value.size()));
  Put<std::uint32_t>(out, static_cast<std::uint32_t>(key.size()));
  Put<std::uint16_t>(out, static_cast<std::uint16_t>(record.topic.size()));
  Put<std::uint8_t>(out, static_cast<std::uint8_t>(flags));
  Put<std::uint8_t>(out, 0);
  Put<std::uint32_t>(out, 0);
  Put<std::uint64_t>(out, record.sequence);
  Put<std::int64_t>(out, record.record.timestamp_ms);
  Put<std::int64_t>(out, record.spooled_ms);
  out.append(record.topic).append(key).append(record.record.value);
  const std::uint32_t crc = Crc32c(std::string_view(out).substr(begin + 8), salt);
  std::memcpy(out.data() + begin + 4, &crc, sizeof(crc));
}

Decoded DecodeRecord(std::string_view bytes, std::uint32_t salt, SpoolRecord* record,
                     std::size_t* size) {
  *size = kRecordHeaderBytes;
  const std::size_t seen = std::min(bytes.size(), kRecordMagic.size());
  if (bytes.substr(0, seen) != kRecordMagic.substr(0, seen)) return Decoded::kBad;
  if (bytes.size() < kRecordHeaderBytes) return Decoded::kNeedsMore;
  const auto value_bytes = Get<std::uint32_t>(bytes, 8);
  const auto key_bytes = Get<std::uint32_t>(bytes, 12);
  const auto topic_bytes = Get<std::uint16_t>(bytes, 16);
  const unsigned flags = Get<std::uint8_t>(bytes, 18);
  if (value_bytes > kMaxSpoolPartBytes || key_bytes > kMaxSpoolPartBytes ||
      topic_bytes > kMaxSpoolTopicBytes)
    return Decoded::kBad;
  *size = kRecordHeaderBytes + topic_bytes + key_bytes + value_bytes;
  if (bytes.size() < *size) return Decoded::kNeedsMore;
  if (Get<std::uint32_t>(bytes, 4) != Crc32c(bytes.substr(8, *size - 8), salt))
    return Decoded::kBad;
  record->sequence = Get<std::uint64_t>(bytes, 24);
  record->record.timestamp_ms = Get<std::int64_t>(bytes, 32);
  record->spooled_ms = Get<std::int64_t>(bytes, 40);
  record->mode = (flags & kHastyFlag) != 0 ? DeliveryMode::kHasty : DeliveryMode::kGuaranteed;
  record->written = (flags & kPerhapsFlag) != 0 ? Written::kPerhaps : Written::kNo;
  record->record.has_key = (flags & kKeyFlag) != 0;
  record->topic = bytes.substr(kRecordHeaderBytes, topic_bytes);
  record->record.key = bytes.substr(kRecordHeaderBytes + topic_bytes, key_bytes);
  record->record.value = bytes.substr(kRecordHeaderBytes + topic_bytes + key_bytes, value_bytes);
  return Decoded::kRecord;
}

void AppendEncoded(std::string& out, const SegmentHeader& header) {
  std::string frame = OpenFrame(kHeaderMagic);
  Put(frame, header.number);
  Put(frame, header.first_sequence);
  Put(frame, header.created_ms);
  Put(frame, header.salt);
  CloseFrame(frame, kSegmentHeaderBytes);
  out += frame;
}

std::optional<SegmentHeader> DecodeHeader(std::string_view bytes) {
  if (!IsFrame(bytes, kHeaderMagic, kSegmentHeaderBytes)) return std::nullopt;
  return SegmentHeader{.number = Get<std::uint64_t>(bytes, kBodyAt),
                       .first_sequence = Get<std::uint64_t>(bytes, kBodyAt + 8),
                       .created_ms = Get<std::int64_t>(bytes, kBodyAt + 16),
                       .salt = Get<std::uint32_t>(bytes, kBodyAt + 24)};
}

void AppendEncoded(std::string& out, const SegmentFooter& footer) {
  std::string frame = OpenFrame(kFooterMagic);
  Put(frame, footer.first_sequence);
  Put(frame, footer.records);
  Put(frame, footer.data_end);
  Put(frame, footer.first_ms);
  Put(frame, footer.last_ms);
  Put(frame, footer.salt);
  CloseFrame(frame, kSegmentFooterBytes);
  out += frame;
}

std::optional<SegmentFooter> DecodeFooter(std::string_view bytes) {
  if (!IsFrame(bytes, kFooterMagic, kSegmentFooterBytes)) return std::nullopt;
  return SegmentFooter{.first_sequence = Get<std::uint64_t>(bytes, kBodyAt),
                       .records = Get<std::uint64_t>(bytes, kBodyAt + 8),
                       .data_end = Get<std::uint64_t>(bytes, kBodyAt + 16),
                       .first_ms = Get<std::int64_t>(bytes, kBodyAt + 24),
                       .last_ms = Get<std::int64_t>(bytes, kBodyAt + 32),
                       .salt = Get<std::uint32_t>(bytes, kBodyAt + 40)};
}

std::string Encode(const Checkpoint& checkpoint) {
  std::string frame = OpenFrame(kCheckpointMagic);
  Put(frame, checkpoint.version);
  Put(frame, checkpoint.done.segment);
  Put(frame, checkpoint.done.offset);
  Put(frame, checkpoint.done.sequence);
  Put(frame, checkpoint.ceiling);
  CloseFrame(frame, kCheckpointBytes);
  return frame;
}

std::optional<Checkpoint> DecodeCheckpoint(std::string_view bytes) {
  if (!IsFrame(bytes, kCheckpointMagic, kCheckpointBytes)) return std::nullopt;
  return Checkpoint{.done = {.segment = Get<std::uint64_t>(bytes, kBodyAt + 8),
                             .offset = Get<std::uint64_t>(bytes, kBodyAt + 16),
                             .sequence = Get<std::uint64_t>(bytes, kBodyAt + 24)},
                    .ceiling = Get<std::uint64_t>(bytes, kBodyAt + 32),
                    .version = Get<std::uint64_t>(bytes, kBodyAt)};
}

std::string SegmentName(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kNumberDigits - std::min(kNumberDigits, digits.size()), '0') + digits +
         std::string(kSuffix);
}

std::optional<std::uint64_t> SegmentNumber(std::string_view name) {
  if (name.size() < kNumberDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace sluice::produce
