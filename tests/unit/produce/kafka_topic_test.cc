#include "produce/kafka_topic.h"

#include <doctest/doctest.h>

namespace sluice::produce {

// The broker's own figures are held against these in kafka_broker_test.
TEST_CASE("BatchBytes: a record in a batch of its own") {
  // 61 of the batch; length, attributes, two deltas, key length, value length, headers: a byte
  // each.
  CHECK(BatchBytes({.value = {}, .key = {}}) == 61 + 7);
  CHECK(BatchBytes({.value = "12345", .key = "123", .has_key = true}) == 61 + 7 + 8);
  const std::string value(64, 'x');  // lengths from 64 on take two bytes
  CHECK(BatchBytes({.value = value, .key = {}}) == 61 + 9 + 64);
  const std::string large(4 << 20, 'x');
  CHECK(BatchBytes({.value = large, .key = large, .has_key = true}) <=
        2 * large.size() + kMaxBatchOverhead);
}

}  // namespace sluice::produce
