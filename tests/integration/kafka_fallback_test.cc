// The Kafka producer with a second cluster, both inside of the process.
#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "produce/kafka_check.h"
#include "produce/kafka_client.h"
#include "produce/kafka_producer.h"
#include "support/mock_kafka.h"
#include "support/temp_folder.h"
#include "unit/produce/waiting_delivery.h"

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using Values = std::set<std::string>;

struct Fixture {
  test::MockKafka first;
  test::MockKafka second;
  core::Metrics metrics{{}, "test"};
  core::KafkaOptions options;
  test::TempFolder folder;
  std::unique_ptr<KafkaProducer> producer;

  Fixture() {
    options.conf = {{"bootstrap.servers", first.bootstrap()}, {"queue.buffering.max.ms", "5"}};
    options.topic_conf = {{"message.timeout.ms", "1500"}};
    options.fallback = {.conf = {{"bootstrap.servers", second.bootstrap()}},
                        .after = milliseconds(1000),
                        .back_after = milliseconds(1000),
                        .topic_prefix = "other."};
  }
  ~Fixture() { CHECK(metrics.records_in_flight() == 0); }

  void Start(core::SpoolMode mode = core::SpoolMode::kOff) {
    REQUIRE(CheckKafkaConf(options).has_value());
    producer = std::make_unique<KafkaProducer>(options, "test", metrics);
    if (mode != core::SpoolMode::kOff) {
      core::SpoolOptions spool;
      spool.mode = mode;
      producer->UseSpool(spool, folder.path(), MakePosixFileOps());
    }
    REQUIRE(producer->Start().has_value());
  }
  StopReport Stop() { return producer->Stop(steady_clock::now() + seconds(20)); }

  // What the one record of a request came to: kafka, spool, or the failure.
  std::string Send(const std::string& value, DeliveryMode mode = DeliveryMode::kGuaranteed) {
    WaitingDelivery delivery(1);
    delivery.Send(*producer, *producer->OpenTopic("dc.t"), value, mode);
    REQUIRE(delivery.Wait());
    if (delivery.slot(0).state() != DeliverySlot::State::kDelivered) return delivery.Fate(0);
    return std::string(core::ToString(delivery.slot(0).durability));
  }

  bool AwaitTarget(KafkaTarget wanted) {
    const auto end = steady_clock::now() + seconds(30);
    const auto there = [&] {
      return producer->detour()->empty() == (wanted == KafkaTarget::kFirst);
    };
    while (!there() && steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
    return there();
  }

  static Values In(test::MockKafka& kafka, const std::string& topic, std::size_t count) {
    Values values;
    for (const auto& record : kafka.Consume(topic, count)) values.insert(record.value);
    return values;
  }

  double Metric(const std::string& series) {
    const std::string text = metrics.Scrape();
    const std::size_t at = text.find("\n" + series + " ");
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + series.size() + 2));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture,
                  "Fallback: new records go there while the first is away, and come back") {
  Start();
  CHECK(*producer->detour() == "");
  CHECK(Send("before") == "kafka");
  first.SetDown();
  REQUIRE(AwaitTarget(KafkaTarget::kFallback));
  CHECK(producer->detour()->find("fallback cluster") != std::string::npos);
  CHECK(producer->trouble() == "");
  CHECK(Send("during") == "kafka");
  CHECK(Send("hasty", DeliveryMode::kHasty) == "kafka");
  CHECK(Metric("sluice_kafka_target{cluster=\"first\"}") == 0);
  CHECK(Metric("sluice_kafka_target{cluster=\"fallback\"}") == 1);
  first.SetUp();
  REQUIRE(AwaitTarget(KafkaTarget::kFirst));
  CHECK(Send("after") == "kafka");
  CHECK(Metric("sluice_kafka_target{cluster=\"first\"}") == 1);
  CHECK(Metric("sluice_kafka_target_switches_total{cluster=\"fallback\"}") == 1);
  CHECK(Metric("sluice_kafka_target_switches_total{cluster=\"first\"}") == 1);
  CHECK(Metric("sluice_kafka_records_delivered_total{producer_type=\"guaranteed\"}") == 2);
  CHECK(Metric("sluice_kafka_records_delivered_total{producer_type=\"guaranteed-fallback\"}") == 1);
  CHECK(Metric("sluice_kafka_records_delivered_total{producer_type=\"hasty-fallback\"}") == 1);
  CHECK(In(first, "dc.t", 2) == Values{"before", "after"});
  CHECK(In(second, "other.dc.t", 2) == Values{"during", "hasty"});
  CHECK(Stop().lost == 0);
}

TEST_CASE_FIXTURE(Fixture, "Fallback: what the first has at the turn stays with it") {
  options.topic_conf = {{"message.timeout.ms", "60000"}};
  Start();
  CHECK(Send("before") == "kafka");
  first.SetDown();
  Topic* topic = producer->OpenTopic("dc.t");
  WaitingDelivery waits(1);
  waits.Send(*producer, *topic, "waits");
  REQUIRE(AwaitTarget(KafkaTarget::kFallback));
  CHECK(Send("during") == "kafka");
  CHECK(waits.slot(0).state() == DeliverySlot::State::kPending);
  first.SetUp();
  REQUIRE(waits.Wait());
  CHECK(waits.Fate(0) == "delivered");
  CHECK(In(first, "dc.t", 2) == Values{"before", "waits"});
  CHECK(In(second, "other.dc.t", 1) == Values{"during"});
  CHECK(Stop().lost == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "Fallback: what was spooled goes to the first cluster, by its name there") {
  Start(core::SpoolMode::kAll);
  CHECK(Send("before") == "kafka");
  first.SetDown();
  CHECK(Send("spooled") == "spool");
  REQUIRE(AwaitTarget(KafkaTarget::kFallback));
  CHECK(Send("during") == "kafka");
  second.SetDown();  // both are away
  CHECK(Send("spooled too") == "spool");
  CHECK(producer->trouble().starts_with("fallback cluster: "));
  first.SetUp();
  second.SetUp();
  CHECK(In(first, "dc.t", 3) == Values{"before", "spooled", "spooled too"});
  CHECK(In(second, "other.dc.t", 1) == Values{"during"});
  CHECK(Stop().spooled == 0);
}

TEST_CASE_FIXTURE(Fixture, "Fallback: a stop flushes both clusters") {
  options.topic_conf = {{"message.timeout.ms", "60000"}};
  first.SetDown();
  Start();
  Topic* topic = producer->OpenTopic("dc.t");
  WaitingDelivery in_first(1);
  in_first.Send(*producer, *topic, "first", DeliveryMode::kHasty);
  REQUIRE(AwaitTarget(KafkaTarget::kFallback));
  second.SetRoundTrip(milliseconds(500));
  first.SetUp();
  WaitingDelivery in_second(1);
  in_second.Send(*producer, *topic, "second", DeliveryMode::kHasty);
  CHECK(Stop().lost == 0);
  REQUIRE(in_first.Wait());
  REQUIRE(in_second.Wait());
  CHECK(in_first.Fate(0) == "delivered");
  CHECK(in_second.Fate(0) == "delivered");
}

TEST_CASE_FIXTURE(Fixture, "Fallback: a record that it cannot name is refused there only") {
  options.fallback.topic_prefix = "no:such:name.";
  Start();
  CHECK(Send("before") == "kafka");
  first.SetDown();
  REQUIRE(AwaitTarget(KafkaTarget::kFallback));
  CHECK(Send("during").starts_with("stream_not_configured: the stream's topic no:such:name.dc.t"));
  CHECK(Stop().lost == 0);
}

TEST_CASE_FIXTURE(Fixture, "CheckKafka: looks at the fallback, under the names of topics there") {
  first.CreateTopic("dc.t", 1);
  first.CreateTopic("dc.u", 1);
  second.CreateTopic("other.dc.t", 1);
  options.topics.policy = core::TopicPolicy::kRequire;
  std::set<std::pair<KafkaTarget, std::string>> problems;
  for (const KafkaFinding& finding : CheckKafka(options, {"dc.t", "dc.u"}, seconds(1))) {
    if (finding.verdict == KafkaFinding::Verdict::kProblem)
      problems.emplace(finding.cluster, finding.topic);
  }
  CHECK(problems ==
        std::set<std::pair<KafkaTarget, std::string>>{{KafkaTarget::kFallback, "other.dc.u"}});
}

}  // namespace sluice::produce
