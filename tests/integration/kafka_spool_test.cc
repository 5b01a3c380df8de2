// The Kafka producer with its spool, against a cluster inside of the process.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "produce/kafka_client.h"
#include "produce/kafka_conf.h"
#include "produce/kafka_producer.h"
#include "support/mock_kafka.h"
#include "support/temp_folder.h"
#include "unit/produce/waiting_delivery.h"

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

struct Fixture {
  test::MockKafka kafka;
  core::Metrics metrics{{}, "test"};
  core::KafkaOptions options;
  core::SpoolOptions spool;
  test::TempFolder folder;
  std::unique_ptr<KafkaProducer> producer;

  Fixture() {
    options.conf = {{"bootstrap.servers", kafka.bootstrap()}, {"queue.buffering.max.ms", "5"}};
    options.topic_conf = {{"message.timeout.ms", "1500"}};
  }
  ~Fixture() { CHECK(metrics.records_in_flight() == 0); }

  void Start(core::SpoolMode mode) {
    spool.mode = mode;
    producer = std::make_unique<KafkaProducer>(options, "test", metrics);
    producer->UseSpool(spool, folder.path(), MakePosixFileOps());
    REQUIRE(producer->Start().has_value());
  }
  StopReport Stop(milliseconds budget) { return producer->Stop(steady_clock::now() + budget); }

  // The fates of `count` records, one word each: kafka, spool, or the failure.
  std::set<std::string> Send(const std::string& prefix, int count, DeliveryMode mode) {
    Topic* topic = producer->OpenTopic("t");
    WaitingDelivery delivery(static_cast<std::uint32_t>(count));
    for (int i = 0; i < count; ++i)
      delivery.Send(*producer, *topic, prefix + std::to_string(i), mode);
    REQUIRE(delivery.Wait());
    std::set<std::string> fates;
    for (std::uint32_t i = 0; i < delivery.size(); ++i) {
      const DeliverySlot& slot = delivery.slot(i);
      fates.insert(slot.state() == DeliverySlot::State::kDelivered
                       ? std::string(core::ToString(slot.durability))
                       : delivery.Fate(i));
    }
    return fates;
  }

  std::set<std::string> InTopic(std::size_t count) {
    std::set<std::string> values;
    for (const auto& record : kafka.Consume("t", count)) values.insert(record.value);
    return values;
  }

  bool AwaitTrouble() {
    const auto end = steady_clock::now() + seconds(20);
    while (producer->trouble().empty() && steady_clock::now() < end) std::this_thread::yield();
    return !producer->trouble().empty();
  }
};

const std::set<std::string> kKafka = {"kafka"};
const std::set<std::string> kSpool = {"spool"};

}  // namespace

TEST_CASE_FIXTURE(Fixture,
                  "Spool: while brokers are down hasty records go there, then all arrive") {
  Start(core::SpoolMode::kHasty);
  CHECK(Send("before", 3, DeliveryMode::kHasty) == kKafka);
  kafka.SetDown();
  CHECK(Send("during", 50, DeliveryMode::kHasty) == kSpool);
  CHECK(AwaitTrouble());
  const auto start = steady_clock::now();
  CHECK(Send("late", 50, DeliveryMode::kHasty) == kSpool);
  CHECK(steady_clock::now() - start < milliseconds(1000));  // does not wait for a time-out
  CHECK(Send("told", 1, DeliveryMode::kGuaranteed).begin()->starts_with("delivery_timeout"));
  kafka.SetUp();
  const auto values = InTopic(103);
  CHECK(values.size() == 103);
  CHECK(values.contains("during49"));
  CHECK_FALSE(values.contains("told0"));
  CHECK(Stop(seconds(20)).lost == 0);
}

TEST_CASE_FIXTURE(Fixture, "Spool: with mode all, guaranteed records rest on it") {
  Start(core::SpoolMode::kAll);
  CHECK(Send("before", 3, DeliveryMode::kGuaranteed) == kKafka);
  kafka.SetDown();
  CHECK(Send("during", 20, DeliveryMode::kGuaranteed) == kSpool);
  kafka.SetUp();
  CHECK(InTopic(23).size() == 23);
  CHECK(Stop(seconds(20)).spooled == 0);
}

TEST_CASE_FIXTURE(Fixture, "Spool: what a stop cannot deliver waits on disk for the next start") {
  options.topic_conf = {{"message.timeout.ms", "60000"}};
  kafka.SetDown();
  Start(core::SpoolMode::kHasty);
  Topic* topic = producer->OpenTopic("t");
  WaitingDelivery delivery(10);
  for (int i = 0; i < 10; ++i)
    delivery.Send(*producer, *topic, "v" + std::to_string(i), DeliveryMode::kHasty);
  const StopReport report = Stop(milliseconds(200));
  REQUIRE(delivery.Wait());
  CHECK(report.lost == 0);
  CHECK(report.spooled == 10);
  kafka.SetUp();
  Start(core::SpoolMode::kHasty);
  CHECK(InTopic(10).size() == 10);
  CHECK(Stop(seconds(20)).spooled == 0);
}

TEST_CASE_FIXTURE(Fixture, "Spool: takes what a full queue does not") {
  options.conf.push_back({"queue.buffering.max.kbytes", "1"});
  options.topic_conf = {{"message.timeout.ms", "60000"}};
  spool.after = seconds(60);
  kafka.SetRoundTrip(milliseconds(300));
  Start(core::SpoolMode::kHasty);
  const std::string value(300, 'x');
  CHECK(Send(value, 20, DeliveryMode::kHasty) == std::set<std::string>{"kafka", "spool"});
  CHECK(InTopic(20).size() == 20);
  CHECK(Stop(seconds(20)).lost == 0);
}

TEST_CASE_FIXTURE(Fixture, "Spool: a cluster that does not answer is noticed by what it delivers") {
  options.topic_conf = {{"message.timeout.ms", "60000"}};
  spool.after = milliseconds(300);
  Start(core::SpoolMode::kHasty);
  CHECK(Send("before", 1, DeliveryMode::kHasty) == kKafka);
  kafka.SetRoundTrip(seconds(4));  // the brokers are there, and too slow
  Topic* topic = producer->OpenTopic("t");
  WaitingDelivery waits(1000);
  const auto start = steady_clock::now();
  while (waits.size() < 1000 && steady_clock::now() - start < milliseconds(1000)) {
    waits.Send(*producer, *topic, "n", DeliveryMode::kHasty);
    std::this_thread::sleep_for(milliseconds(2));  // the time itself is what is tested
  }
  kafka.SetRoundTrip(milliseconds(0));
  REQUIRE(waits.Wait());
  CHECK(waits.slot(0).durability == Durability::kKafka);
  CHECK(waits.slot(waits.size() - 1).durability == Durability::kSpool);
  CHECK(Stop(seconds(20)).lost == 0);
}

}  // namespace sluice::produce
