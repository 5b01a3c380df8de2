#include "produce/kafka_topic.h"

namespace sluice::produce {
namespace {

constexpr std::uint64_t kBatchHeaderBytes = 61;

// Of a signed number in Kafka's zigzag notation.
std::uint64_t VarintBytes(std::int64_t value) {
  auto bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  std::uint64_t bytes = 1;
  for (; bits >= 0x80; bits >>= 7) ++bytes;
  return bytes;
}

}  // namespace

std::uint64_t BatchBytes(const Record& record) {
  const auto value = static_cast<std::int64_t>(record.value.size());
  const auto key = static_cast<std::int64_t>(record.key.size());
  // Attributes, timestamp delta, offset delta and the count of headers are a byte each: the record
  // is the first of its batch and has none.
  const std::uint64_t body = 4 + VarintBytes(record.has_key ? key : -1) +
                             (record.has_key ? record.key.size() : 0) + VarintBytes(value) +
                             record.value.size();
  return kBatchHeaderBytes + VarintBytes(static_cast<std::int64_t>(body)) + body;
}

}  // namespace sluice::produce
