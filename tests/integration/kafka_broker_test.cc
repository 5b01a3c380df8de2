// What only a real broker checks: sizes and timestamps. Needs a Kafka that runs at
// SLUICE_KAFKA_PORT.
#include <doctest/doctest.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "produce/kafka_admin.h"
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
    options.topics.refresh = std::chrono::milliseconds(200);
  }
  ~Fixture() {
    if (producer != nullptr) {
      CHECK(producer->Stop(std::chrono::steady_clock::now() + std::chrono::seconds(20)).lost == 0);
    }
    CHECK(metrics.records_in_flight() == 0);
  }
  void Start() {
    producer = std::make_unique<KafkaProducer>(options, "test", metrics);
    REQUIRE(producer->Start().has_value());
  }
  std::string SendOne(Topic& topic, std::string value) {
    WaitingDelivery delivery(1);
    delivery.Send(*producer, topic, std::move(value));
    REQUIRE(delivery.Wait());
    return delivery.Fate(0);
  }
  // Until the fate of a record begins like this: what is known about topics comes by and by.
  bool AwaitFate(Topic& topic, const std::string& value, const std::string& wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < end) {
      if (SendOne(topic, value).starts_with(wanted)) return true;
    }
    return false;
  }
};

// Not to be compressed.
std::string Noise(std::size_t bytes) {
  std::string noise(bytes, 0);
  std::uint64_t state = 88172645463325252;
  for (char& c : noise) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    c = static_cast<char>(state >> 32);
  }
  return noise;
}

KafkaAdmin::Cluster Look(const core::KafkaOptions& options) {
  auto admin = KafkaAdmin::Make(MergeKafkaEntries(options, DeliveryMode::kGuaranteed, "test"));
  REQUIRE(admin.has_value());
  auto cluster = (*admin)->Look(std::chrono::seconds(20));
  REQUIRE(cluster.has_value());
  return *cluster;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "Broker: one record above the topic's limit costs no other") {
  Start();
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
  Start();
  Topic* topic = producer->OpenTopic(NewTopic(bootstrap, "batch", "2000"));
  WaitingDelivery delivery(100);
  for (int i = 0; i < 100; ++i) delivery.Send(*producer, *topic, std::string(500, 'x'));
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 100; ++i) CHECK(delivery.Fate(i) == "delivered");
}

TEST_CASE_FIXTURE(Fixture, "Broker: a timestamp years ahead becomes now, its neighbours stay") {
  Start();
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
  Start();
  Topic* topic = producer->OpenTopic("test.auto." + std::to_string(::getpid()));
  WaitingDelivery delivery(200);
  for (int i = 0; i < 100; ++i) delivery.Send(*producer, *topic, std::to_string(i));
  producer->client(DeliveryMode::kGuaranteed).BreakGeneration("drill");
  for (int i = 0; i < 100; ++i) delivery.Send(*producer, *topic, std::to_string(i));
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 200; ++i) CHECK(delivery.Fate(i) == "delivered");
}

TEST_CASE_FIXTURE(Fixture, "Broker: the topic's own limit is known and exact to the byte") {
  Start();
  Topic* topic = producer->OpenTopic(NewTopic(bootstrap, "limit", "3000"));
  REQUIRE(AwaitFate(*topic, Noise(3000), "record_too_large: the record takes 3070 bytes in Kafka"));
  const std::size_t overhead = BatchBytes({.value = Noise(2900), .key = {}}) - 2900;
  CHECK(SendOne(*topic, Noise(3000 - overhead)) == "delivered");
  CHECK(SendOne(*topic, Noise(3001 - overhead)).starts_with("record_too_large: the record takes"));
}

TEST_CASE_FIXTURE(Fixture,
                  "Broker: with compression the broker decides, and no neighbour suffers") {
  options.conf.push_back({"compression.codec", "snappy"});
  Start();
  Topic* topic = producer->OpenTopic(NewTopic(bootstrap, "compressed", "3000"));
  REQUIRE(SendOne(*topic, "{}") == "delivered");
  for (int round = 0; round < 3; ++round) {
    WaitingDelivery delivery(4);
    delivery.Send(*producer, *topic, "{}");
    delivery.Send(*producer, *topic, std::string(20000, 'x'));
    delivery.Send(*producer, *topic, Noise(3100));
    delivery.Send(*producer, *topic, "{}");
    REQUIRE(delivery.Wait());
    CHECK(delivery.Fate(0) == "delivered");
    CHECK(delivery.Fate(1) == "delivered");
    CHECK(delivery.Fate(2).starts_with("record_too_large: Broker: Message size too large"));
    CHECK(delivery.Fate(3) == "delivered");
  }
}

TEST_CASE_FIXTURE(Fixture, "Broker: topics are made as kafka.topics says, also under way") {
  options.topics.partitions = 5;
  options.topics.config = {{"max.message.bytes", "54321"}};
  Start();
  const std::string name = "test.made." + std::to_string(::getpid());
  Topic* topic = producer->OpenTopic(name);
  CHECK(SendOne(*topic, "{}") == "delivered");
  const auto cluster = Look(options);
  REQUIRE(cluster.topics.contains(name));
  CHECK(cluster.topics.find(name)->second.partitions.size() == 5);
  CHECK(AwaitFate(*topic, Noise(60000), "record_too_large: "));
}

TEST_CASE_FIXTURE(Fixture,
                  "Broker: with topics: require none is made, and one made later is used") {
  options.topics.policy = core::TopicPolicy::kRequire;
  Start();
  const std::string name = "test.required." + std::to_string(::getpid());
  Topic* topic = producer->OpenTopic(name);
  CHECK(SendOne(*topic, "{}").starts_with("topic_unknown: "));
  CHECK(AwaitFate(*topic, "{}", "topic_unknown: Kafka has no topic"));
  CHECK_FALSE(Look(options).topics.contains(name));
  auto admin = KafkaAdmin::Make(MergeKafkaEntries(options, DeliveryMode::kGuaranteed, "test"));
  REQUIRE((*admin)->Create({{name, 1, 1, {}}}, std::chrono::seconds(20))[0].has_value());
  CHECK(AwaitFate(*topic, "{}", "delivered"));
}

TEST_CASE_FIXTURE(Fixture, "CheckKafka: tells what will go wrong with a topic") {
  const std::string small = NewTopic(bootstrap, "check", "2000");
  const auto findings = CheckKafka(options, {small, "test.absent"}, std::chrono::seconds(20));
  const auto told = [&](KafkaFinding::Verdict verdict, const std::string& topic,
                        const std::string& part) {
    for (const KafkaFinding& finding : findings) {
      if (finding.verdict == verdict && finding.topic == topic &&
          finding.text.find(part) != std::string::npos)
        return true;
    }
    return false;
  };
  CHECK(told(KafkaFinding::Verdict::kGood, "", "brokers: 127.0.0.1:"));
  CHECK(told(KafkaFinding::Verdict::kGood, "", "create topics on first use: yes"));
  CHECK(told(KafkaFinding::Verdict::kGood, small, "1 partitions, 1 replicas"));
  CHECK(told(KafkaFinding::Verdict::kWarning, small, "max.message.bytes 2000 is below the"));
  CHECK(told(KafkaFinding::Verdict::kWarning, small, "is below batch.size 1000000"));
  CHECK(told(KafkaFinding::Verdict::kWarning, small, "one replica"));
  CHECK(told(KafkaFinding::Verdict::kWarning, "test.absent", "not there yet"));
  options.topics.policy = core::TopicPolicy::kRequire;
  const auto strict = CheckKafka(options, {"test.absent"}, std::chrono::seconds(20));
  CHECK(strict.back().verdict == KafkaFinding::Verdict::kProblem);
  CHECK(strict.back().fix == "create it, or set topics: create");
}

}  // namespace sluice::produce
