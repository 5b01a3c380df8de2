#pragma once

#include <librdkafka/rdkafka.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "produce/producer.h"

namespace sluice::produce {

// Whether the cluster has a topic, as far as is known.
enum class TopicPresence : std::uint8_t {
  kUnknown,  // nobody was asked yet, or nobody answered: its records are tried
  kPresent,
  kAbsent,  // and it is not going to be made: its records fail at once
};

struct KafkaOpenTopic;

// A topic as the two clients know it. The atomics may be touched from any thread.
struct KafkaTopic final : Topic {
  explicit KafkaTopic(std::string_view name) : KafkaTopic(name, name) {}
  KafkaTopic(std::string_view name, std::string_view home) : Topic(name), home_name(home) {}

  const std::string home_name;  // in the first cluster: the spool keeps records under it
  std::atomic<KafkaTopic*> in_fallback{nullptr};  // of the same stream, if there is such a cluster
  bool legal = true;                              // for Kafka's rules of names
  std::array<KafkaOpenTopic*, 2> handles{};  // by DeliveryMode; each written by its client only

  std::array<std::atomic<std::uint64_t>, 2> queued_bytes{};  // by DeliveryMode
  std::atomic<TopicPresence> presence{TopicPresence::kUnknown};
  std::atomic<std::uint64_t> max_batch_bytes{0};  // the topic's max.message.bytes; 0: not known
};

// What a record takes as a batch of its own in Kafka's format (version 2), not compressed: this is
// what a topic's max.message.bytes is held against.
std::uint64_t BatchBytes(const Record& record);
// It is never more than this above the bytes of value and key.
inline constexpr std::uint64_t kMaxBatchOverhead = 96;

}  // namespace sluice::produce
