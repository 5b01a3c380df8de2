#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "produce/kafka_conf.h"

namespace sluice::produce {

// One line of a check: what was found and, unless it is good, what will go wrong and how to fix it.
struct KafkaFinding {
  enum class Verdict : std::uint8_t { kGood, kWarning, kProblem };
  Verdict verdict = Verdict::kGood;
  KafkaTarget cluster = KafkaTarget::kFirst;
  std::string topic;  // empty: of the cluster
  std::string text;
  std::string fix;  // empty if good
};
std::string_view ToString(KafkaFinding::Verdict verdict);

// Looks at a cluster as the two producers would use it: can it be reached, are the topics there and
// led, do their limits, replicas and rules of time fit the producers' settings, may we ask at all.
// Changes nothing. Where there is a fallback, it is looked at too, with the names that the topics
// have there. Blocks, each question for at most `timeout`.
std::vector<KafkaFinding> CheckKafka(const core::KafkaOptions& options,
                                     const std::vector<std::string>& topics,
                                     std::chrono::milliseconds timeout);

}  // namespace sluice::produce
