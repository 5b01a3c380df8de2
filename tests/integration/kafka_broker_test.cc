// What only a real broker checks: sizes and timestamps. Needs a Kafka that runs at
// SLUICE_KAFKA_PORT.
#include <doctest/doctest.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "produce/kafka_check.h"
#include "produce/kafka_client.h"
#include "produce/kafka_producer.h"
#include "unit/produce/waiting_delivery.h"

namespace sluice::produce {
namespace {

std::string Bootstrap() {
  const char* port = std::getenv("SLUICE_KAFKA_PORT");
  if (port == nullptr) {
    std::puts("SKIPPED: no Kafka, SLUICE_KAFKA_PORT is not set");
    std::exit(77);
  }
  return std::string("127.0.0.1:") + port;
}

std::string NewTopic(const std::string& bootstrap, const std::string& name,
                     const std::string& max_message_bytes) {
  static int serial = 0;
  const std::string topic =
      "test." + name + "." + std::to_string(::getpid()) + "." + std::to_string(++serial);
  char text[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), text, sizeof text);
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client);
  rd_kafka_NewTopic_t* wanted = rd_kafka_NewTopic_new(topic.c_str(), 1, 1, text, sizeof text);
  rd_kafka_NewTopic_set_config(wanted, "max.message.bytes", max_message_bytes.c_str());
  rd_kafka_CreateTopics(client, &wanted, 1, nullptr, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 60000);
  REQUIRE(event != nullptr);
  CHECK(rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_event_destroy(event);
  rd_kafka_NewTopic_destroy(wanted);
  rd_kafka_queue_destroy(queue);
  rd_kafka_destroy(client);
  return topic;
}

struct Fixture {
  const std::string bootstrap = Bootstrap();
  core::Metrics metrics{{}, "test"};
  core::KafkaOptions options;
  std::unique_ptr<KafkaProducer> producer;

  Fixture() {
    options.conf = {{"bootstrap.servers", bootstrap}, {"queue.buffering.max.ms", "100"}};
    producer = std::make_unique<KafkaProducer>(options, "test", metrics);
    REQUIRE(producer->Start().has_value());
  }
  ~Fixture() {
    CHECK(producer->Stop(std::chrono::steady_clock::now() + std::chrono::seconds(20)).lost == 0);
    CHECK(metrics.records_in_flight() == 0);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "Broker: one record above the topic's limit costs no other") {
  Topic* topic = producer->OpenTopic(NewTopic(bootstrap, "size", "2000"));
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    WaitingDelivery delivery(50);
    for (int i = 0; i < 50; ++i)
      delivery.Send(*producer, *topic, std::string(i == 20 ? 2500 : 300, 'x'));
    REQUIRE(delivery.Wait());
    for (std::uint32_t i = 0; i < 50; ++i) {
      CAPTURE(i);
      if (i == 20) {
        CHECK(delivery.Fate(i).starts_with("record_too_large: "));
      } else {
        CHECK(delivery.Fate(i) == "delivered");
      }
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "Broker: a batch above the topic's limit of good records arrives") {
  Topic* topic = producer->OpenTopic(NewTopic(bootstrap, "batch", "2000"));
  WaitingDelivery delivery(100);
  for (int i = 0; i < 100; ++i) delivery.Send(*producer, *topic, std::string(500, 'x'));
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 100; ++i) CHECK(delivery.Fate(i) == "delivered");
}

TEST_CASE_FIXTURE(Fixture, "Broker: a timestamp years ahead becomes now, its neighbours stay") {
  Topic* topic = producer->OpenTopic(NewTopic(bootstrap, "time", "1000000"));
  WaitingDelivery delivery(10);
  for (int i = 0; i < 10; ++i) {
    delivery.Send(*producer, *topic, DeliveryMode::kGuaranteed,
                  {.value = "{}", .key = {}, .timestamp_ms = i == 5 ? 4102444800000 : 0});
  }
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 10; ++i) CHECK(delivery.Fate(i) == "delivered");
}

TEST_CASE_FIXTURE(Fixture, "Broker: a new topic is made on first use, and a break loses nothing") {
  Topic* topic = producer->OpenTopic("test.auto." + std::to_string(::getpid()));
  WaitingDelivery delivery(200);
  for (int i = 0; i < 100; ++i) delivery.Send(*producer, *topic, std::to_string(i));
  producer->client(DeliveryMode::kGuaranteed).BreakGeneration("drill");
  for (int i = 0; i < 100; ++i) delivery.Send(*producer, *topic, std::to_string(i));
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 200; ++i) CHECK(delivery.Fate(i) == "delivered");
}

TEST_CASE_FIXTURE(Fixture, "CheckKafka: tells what will go wrong with a topic") {
  const std::string small = NewTopic(bootstrap, "check", "2000");
  const auto findings = CheckKafka(options, {small, "test.absent"}, std::chrono::seconds(20));
  const auto told = [&](KafkaFinding::Verdict verdict, const std::string& part) {
    for (const KafkaFinding& finding : findings) {
      if (finding.verdict == verdict && finding.text.find(part) != std::string::npos) return true;
    }
    return false;
  };
  CHECK(told(KafkaFinding::Verdict::kGood, "brokers: 127.0.0.1:"));
  CHECK(told(KafkaFinding::Verdict::kGood, "topics are created on first use"));
  CHECK(told(KafkaFinding::Verdict::kGood, small + ": 1 partitions, 1 replicas"));
  CHECK(told(KafkaFinding::Verdict::kWarning, small + ": max.message.bytes 2000 is below the"));
  CHECK(told(KafkaFinding::Verdict::kWarning, "is below batch.size 1000000"));
  CHECK(told(KafkaFinding::Verdict::kWarning, "test.absent: not there yet"));
}

}  // namespace sluice::produce
