#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::core {

// What a 2xx answer rests on, weakest first; the header Sluice-Durability and the metric label.
enum class Durability : std::uint8_t {
  kNone,   // nothing but this process
  kFile,   // the topic's file
  kSpool,  // the spool on this machine's disk, from where it goes to Kafka
  kKafka,  // the delivery report of the brokers
};
inline constexpr int kDurabilityCount = 4;

std::string_view ToString(Durability durability);

}  // namespace sluice::core
