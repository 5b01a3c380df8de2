#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice::test {

// A Kafka cluster inside of this process (librdkafka's mock, an experimental interface: the only
// file that uses it is mock_kafka.cc). Creates topics on first use. It checks neither sizes nor
// timestamps. Any thread.
class MockKafka {
 public:
  explicit MockKafka(int brokers = 1);
  ~MockKafka();
  MockKafka(const MockKafka&) = delete;
  MockKafka& operator=(const MockKafka&) = delete;

  std::string bootstrap() const;

  // All brokers at once; no leader moves.
  void SetDown();
  void SetUp();
  void SetRoundTrip(std::chrono::milliseconds rtt);

  void CreateTopic(const std::string& topic, int partitions);

  // The topic's answer to metadata requests; Kafka's code, 3 is "unknown topic or partition".
  void SetTopicError(const std::string& topic, int kafka_code);

  // The next Produce requests are answered with these codes of Kafka's, in order; 10 is "message
  // too large".
  void FailProduce(const std::vector<int>& kafka_codes);

  struct Consumed {
    std::string value;
    std::optional<std::string> key;
    std::int64_t timestamp_ms = 0;
  };

  // Reads a topic from its beginning, all partitions, until `count` records are there or the time
  // is up.
  std::vector<Consumed> Consume(const std::string& topic, std::size_t count,
                                std::chrono::milliseconds longest = std::chrono::seconds(20));

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::test
