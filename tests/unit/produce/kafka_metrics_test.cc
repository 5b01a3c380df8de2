#include "produce/kafka_metrics.h"

#include <doctest/doctest.h>

namespace sluice::produce {

TEST_CASE("KafkaMetrics: top-level numbers of the statistics become gauges") {
  core::Metrics metrics({}, "test");
  KafkaMetrics kafka(metrics, "hasty");
  CHECK(kafka.TakeStatistics(
      R"({"name":"x","txmsgs":17,"msg_size":4294967296,"tx":"no number","brokers":{"a":{"rx":5}}})"));
  const std::string text = metrics.Scrape();
  CHECK(text.find("eventgate_rdkafka_txmsgs{producer_type=\"hasty\"} 17\n") != std::string::npos);
  CHECK(text.find("eventgate_rdkafka_msg_size{producer_type=\"hasty\"} 4294967296\n") !=
        std::string::npos);
  CHECK(text.find("eventgate_rdkafka_tx{producer_type=\"hasty\"} 0\n") != std::string::npos);
  CHECK(text.find("eventgate_rdkafka_rx{producer_type=\"hasty\"} 0\n") != std::string::npos);
}

TEST_CASE("KafkaMetrics: what is no statistics changes nothing") {
  core::Metrics metrics({}, "test");
  KafkaMetrics kafka(metrics, "hasty");
  CHECK_FALSE(kafka.TakeStatistics("{"));
  CHECK_FALSE(kafka.TakeStatistics("[1]"));
}

TEST_CASE("KafkaMetrics: the original's names can be dropped") {
  core::MetricOptions options;
  options.eventgate_names = false;
  core::Metrics metrics(options, "test");
  KafkaMetrics kafka(metrics, "hasty");
  CHECK(kafka.TakeStatistics(R"({"txmsgs":17})"));
  CHECK(metrics.Scrape().find("eventgate_rdkafka") == std::string::npos);
}

TEST_CASE("KafkaMetrics: latencies of a group are added to the histogram") {
  core::Metrics metrics({}, "test");
  KafkaMetrics kafka(metrics, "guaranteed");
  KafkaMetrics::Latencies latencies;
  latencies.Add(900);
  latencies.Add(1000);
  latencies.Add(1001);
  latencies.Add(60000000);
  kafka.Observe(latencies);
  const std::string text = metrics.Scrape();
  const std::string name = "sluice_kafka_delivery_seconds_";
  const auto bucket = [&](const std::string& le) {
    return name + "bucket{producer_type=\"guaranteed\",le=\"" + le + "\"} ";
  };
  CHECK(text.find(bucket("0.001") + "2\n") != std::string::npos);
  CHECK(text.find(bucket("0.002") + "3\n") != std::string::npos);
  CHECK(text.find(bucket("30") + "3\n") != std::string::npos);
  CHECK(text.find(bucket("+Inf") + "4\n") != std::string::npos);
}

}  // namespace sluice::produce
