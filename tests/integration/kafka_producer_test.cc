#include "produce/kafka_producer.h"

#include <doctest/doctest.h>

#include <future>
#include <set>
#include <thread>

#include "produce/kafka_check.h"
#include "produce/kafka_client.h"
#include "produce/kafka_handle.h"
#include "support/mock_kafka.h"
#include "unit/produce/waiting_delivery.h"

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr int kUnknownTopicOrPart = 3;
constexpr int kTooLarge = 10;
constexpr int kNotEnoughReplicas = 19;
constexpr int kInvalidTimestamp = 32;
constexpr int kTopicAuthorizationFailed = 29;

struct Fixture {
  test::MockKafka kafka;
  core::Metrics metrics{{}, "test"};
  core::KafkaOptions options;
  std::unique_ptr<KafkaProducer> producer;

  Fixture() { options.conf = {{"bootstrap.servers", kafka.bootstrap()}}; }
  ~Fixture() { CHECK(metrics.records_in_flight() == 0); }

  void Start() {
    REQUIRE(CheckKafkaConf(options).has_value());
    producer = std::make_unique<KafkaProducer>(options, "test", metrics);
    REQUIRE(producer->Start().has_value());
  }
  std::uint64_t Stop(milliseconds budget = seconds(20)) {
    return producer->Stop(steady_clock::now() + budget).lost;
  }
  enum class Trouble : std::uint8_t { kNone, kSome };
  bool AwaitTrouble(Trouble wanted) {
    const auto end = steady_clock::now() + seconds(20);
    const auto there = [&] { return producer->trouble().empty() == (wanted == Trouble::kNone); };
    while (!there() && steady_clock::now() < end) std::this_thread::yield();
    return there();
  }
  double Counter(const std::string& name) {
    const std::string text = metrics.Scrape();
    const std::size_t at = text.find("\n" + name);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(text.find("} ", at) + 2));
  }
};

std::set<std::string> Values(const std::vector<test::MockKafka::Consumed>& records) {
  std::set<std::string> values;
  for (const auto& record : records) values.insert(record.value);
  return values;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: value, key and timestamp arrive as they are") {
  Start();
  Topic* topic = producer->OpenTopic("eqiad.a");
  WaitingDelivery delivery(4);
  delivery.Send(*producer, *topic, DeliveryMode::kGuaranteed,
                {.value = "{\"n\": 1.0}",
                 .key = "{\"k\":1}",
                 .has_key = true,
                 .timestamp_ms = 1577836800123});
  delivery.Send(*producer, *topic, DeliveryMode::kGuaranteed, {.value = "{}", .key = {}});
  delivery.Send(*producer, *topic, DeliveryMode::kHasty, {.value = "{\"hasty\":1}", .key = {}});
  delivery.Send(*producer, *producer->OpenTopic("eqiad.b"), DeliveryMode::kGuaranteed,
                {.value = "{}", .key = {}});
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(delivery.Fate(i) == "delivered");
  CHECK(producer->queued_bytes() == 0);
  const auto records = kafka.Consume("eqiad.a", 3);
  REQUIRE(records.size() == 3);
  for (const auto& record : records) {
    if (record.value != "{\"n\": 1.0}") {
      CHECK_FALSE(record.key.has_value());
      CHECK(record.timestamp_ms > 1700000000000);
      continue;
    }
    CHECK(record.key.value_or("") == "{\"k\":1}");
    CHECK(record.timestamp_ms == 1577836800123);
  }
  CHECK(producer->trouble() == "");
  CHECK(Stop() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "KafkaProducer: while brokers are down each record is answered in time") {
  options.topic_conf = {{"message.timeout.ms", "1500"}};
  Start();
  Topic* topic = producer->OpenTopic("a");
  WaitingDelivery before(1);
  before.Send(*producer, *topic, "before");
  REQUIRE(before.Wait());
  CHECK(before.Fate(0) == "delivered");

  kafka.SetDown();
  const auto start = steady_clock::now();
  WaitingDelivery during(3);
  for (int i = 0; i < 3; ++i) during.Send(*producer, *topic, "during");
  REQUIRE(during.Wait());
  CHECK(steady_clock::now() - start < milliseconds(4000));
  for (std::uint32_t i = 0; i < 3; ++i)
    CHECK(during.Fate(i).starts_with("delivery_timeout: Local: Message timed out"));
  CHECK(producer->trouble().starts_with("all Kafka brokers are down: "));

  kafka.SetUp();
  // Not one of them may hang; and within a few time-outs one must get through.
  std::string fate;
  for (int i = 0; i < 20 && fate != "delivered"; ++i) {
    WaitingDelivery after(1);
    after.Send(*producer, *topic, "after");
    REQUIRE(after.Wait());
    fate = after.Fate(0);
  }
  CHECK(fate == "delivered");
  CHECK(AwaitTrouble(Trouble::kNone));  // the producer without traffic asks once a second
  CHECK(Stop() == 0);
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: trouble passes without traffic when a broker is back") {
  Start();
  Topic* topic = producer->OpenTopic("a");
  WaitingDelivery before(1);
  before.Send(*producer, *topic, "x");
  REQUIRE(before.Wait());
  kafka.SetDown();
  CHECK(AwaitTrouble(Trouble::kSome));
  kafka.SetUp();
  CHECK(AwaitTrouble(Trouble::kNone));
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: the queue is bounded by bytes and refuses below that") {
  options.conf.push_back({"queue.buffering.max.kbytes", "1"});
  options.guaranteed_topic_conf = {{"message.timeout.ms", "1000"}};
  kafka.SetDown();
  Start();
  Topic* topic = producer->OpenTopic("a");
  WaitingDelivery delivery(3);
  delivery.Send(*producer, *topic, std::string(600, 'x'));
  CHECK(producer->HasRoom(DeliveryMode::kGuaranteed));
  delivery.Send(*producer, *topic, std::string(300, 'x'));  // 80 % of 1024 is 819
  CHECK(delivery.Fate(1) == "queue_full: the queue to Kafka is full");
  CHECK(producer->queued_bytes() == 600);
  CHECK_FALSE(producer->HasRoom(DeliveryMode::kHasty));  // 60 % of 1024 is 614
  delivery.Send(*producer, *producer->OpenTopic("b"), std::string(219, 'x'));
  CHECK(producer->queued_bytes() == 819);
  CHECK_FALSE(producer->HasRoom(DeliveryMode::kGuaranteed));
  CHECK_FALSE(producer->trouble().empty());
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(2).starts_with("delivery_timeout: "));
  CHECK(producer->queued_bytes() == 0);
  CHECK(producer->HasRoom(DeliveryMode::kHasty));
  CHECK(producer->max_queued_bytes() == 2048);
  CHECK(Counter("sluice_kafka_queue_full_total{producer_type=\"guaranteed\"") == 1);
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: a topic that does not drain leaves room for others") {
  options.conf.push_back({"queue.buffering.max.kbytes", "10"});
  options.topic_conf = {{"message.timeout.ms", "2000"}};
  kafka.SetDown();
  Start();
  Topic* dead = producer->OpenTopic("dead");
  WaitingDelivery delivery(100);
  int refused = 0;
  for (std::uint32_t i = 0; i < 90; ++i) {
    delivery.Send(*producer, *dead, std::string(100, 'x'));
    if (delivery.slot(i).state() == DeliverySlot::State::kPending) continue;
    ++refused;
    CHECK(delivery.Fate(i) ==
          "queue_full: topic dead has as much of the queue to Kafka as one topic may "
          "(kafka.admit.*)");
  }
  CHECK(refused == 90 - 40);  // half of 80 % of the queue
  Topic* other = producer->OpenTopic("other");
  for (std::uint32_t i = 90; i < 100; ++i) {
    delivery.Send(*producer, *other, std::string(100, 'x'));
    CHECK(delivery.slot(i).state() == DeliverySlot::State::kPending);
  }
  REQUIRE(delivery.Wait());
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: a record above message.max.bytes disturbs no other") {
  options.conf.push_back({"message.max.bytes", "1000"});
  Start();
  Topic* topic = producer->OpenTopic("a");
  WaitingDelivery delivery(3);
  delivery.Send(*producer, *topic, "1");
  delivery.Send(*producer, *topic, std::string(1001, 'x'));
  delivery.Send(*producer, *topic, "2");
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0) == "delivered");
  CHECK(delivery.Fate(1) ==
        "record_too_large: the record has 1001 bytes, message.max.bytes is 1000");
  CHECK(delivery.Fate(2) == "delivered");
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: an unknown topic is told, and does not hold up others") {
  options.conf.push_back({"topic.metadata.propagation.max.ms", "0"});
  kafka.SetTopicError("unknown", kUnknownTopicOrPart);
  Start();
  Topic* unknown = producer->OpenTopic("unknown");
  Topic* known = producer->OpenTopic("known");
  WaitingDelivery delivery(2);
  delivery.Send(*producer, *unknown, "1");
  delivery.Send(*producer, *known, "2");
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0).starts_with("topic_unknown: "));
  CHECK(delivery.Fate(0).find("(topic unknown)") != std::string::npos);
  CHECK(delivery.Fate(1) == "delivered");
  WaitingDelivery again(1);
  again.Send(*producer, *unknown, "3");
  CHECK(again.Fate(0).starts_with("topic_unknown: "));  // inside of Produce
  again.Seal();
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: topics: require refuses at once what is not there") {
  options.topics.policy = core::TopicPolicy::kRequire;
  options.topics.refresh = milliseconds(100);
  kafka.CreateTopic("there", 1);
  kafka.SetTopicError("absent", kUnknownTopicOrPart);
  Start();
  Topic* absent = producer->OpenTopic("absent");
  Topic* there = producer->OpenTopic("there");
  // Until the cluster has answered, a record is tried.
  const auto end = steady_clock::now() + seconds(20);
  std::string fate;
  while (!fate.starts_with("topic_unknown: Kafka has no topic absent") &&
         steady_clock::now() < end) {
    WaitingDelivery delivery(2);
    delivery.Send(*producer, *absent, "1");
    delivery.Send(*producer, *there, "2");
    REQUIRE(delivery.Wait());
    fate = delivery.Fate(0);
    CHECK(delivery.Fate(1) == "delivered");
  }
  CHECK(fate ==
        "topic_unknown: Kafka has no topic absent, and none is made with topics: require; create "
        "it");
  WaitingDelivery again(2);
  again.Send(*producer, *absent, "3");
  CHECK(again.slot(0).state() == DeliverySlot::State::kFailed);  // inside of Produce
  Topic* late = producer->OpenTopic("late");                     // the cluster's topics are known
  again.Send(*producer, *late, "4");
  CHECK(again.slot(1).state() == DeliverySlot::State::kFailed);
  again.Seal();
  CHECK(kafka.Consume("there", 1).size() == 1);

  kafka.SetTopicError("absent", 0);
  fate.clear();
  while (fate != "delivered" && steady_clock::now() < end) {
    WaitingDelivery delivery(1);
    delivery.Send(*producer, *absent, "5");
    REQUIRE(delivery.Wait());
    fate = delivery.Fate(0);
  }
  CHECK(fate == "delivered");
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: a topic that cannot be made says why") {
  options.topics.partitions = 3;  // the mock cluster makes none when asked
  options.topics.refresh = milliseconds(100);
  kafka.SetTopicError("a", kUnknownTopicOrPart);
  Start();
  Topic* topic = producer->OpenTopic("a");
  const auto end = steady_clock::now() + seconds(20);
  std::string fate;
  while (fate.find("cannot be made") == std::string::npos && steady_clock::now() < end) {
    WaitingDelivery delivery(1);
    delivery.Send(*producer, *topic, "1");
    REQUIRE(delivery.Wait());
    fate = delivery.Fate(0);
  }
  CHECK(fate.starts_with("topic_unknown: Kafka has no topic a, and it cannot be made: "));
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: a name that Kafka does not allow is refused") {
  Start();
  for (const std::string& name :
       {std::string("a/b"), std::string(".."), std::string(), std::string(250, 'a')}) {
    WaitingDelivery delivery(1);
    delivery.Send(*producer, *producer->OpenTopic(name), "1");
    CHECK(delivery.Fate(0).starts_with("stream_not_configured: "));
    delivery.Seal();
  }
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: the innocent of a refused batch arrive, one by one") {
  // One partition and a long linger: the records make one batch, however slow the machine is.
  kafka.CreateTopic("a", 1);
  options.conf.push_back({"queue.buffering.max.ms", "500"});
  Start();
  Topic* topic = producer->OpenTopic("a");
  // The batch, and then one of the single records: that one is the guilty one.
  kafka.FailProduce({kTooLarge, kTooLarge});
  WaitingDelivery delivery(5);
  for (int i = 0; i < 5; ++i) delivery.Send(*producer, *topic, std::to_string(i));
  REQUIRE(delivery.Wait());
  int refused = 0;
  for (std::uint32_t i = 0; i < 5; ++i) {
    if (delivery.Fate(i) != "delivered") {
      ++refused;
      CHECK(delivery.Fate(i).starts_with("record_too_large: Broker: Message size too large"));
    }
  }
  CHECK(refused == 1);
  CHECK(Values(kafka.Consume("a", 4)).size() == 4);
  Stop();
  CHECK(producer->queued_bytes() == 0);
}

// A broker that knows nothing of a producer takes its records whatever their sequence number, and
// librdkafka takes those before them for delivered too.
TEST_CASE_FIXTURE(Fixture,
                  "KafkaProducer: a record that was refused for now is not told as delivered with "
                  "the next") {
  kafka.CreateTopic("a", 1);
  Start();
  Topic* topic = producer->OpenTopic("a");
  WaitingDelivery known(1);
  known.Send(*producer, *producer->OpenTopic("b"), "connects");
  REQUIRE(known.Wait());
  kafka.SetRoundTrip(milliseconds(300));
  kafka.FailProduce({kNotEnoughReplicas});
  WaitingDelivery delivery(2);
  delivery.Send(*producer, *topic, "first");
  std::this_thread::sleep_for(milliseconds(100));  // it is on its way, and has no answer yet
  delivery.Send(*producer, *topic, "second");
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 2; ++i) CHECK(delivery.Fate(i) == "delivered");
  kafka.SetRoundTrip(milliseconds(0));
  CHECK(Values(kafka.Consume("a", 2, seconds(5))) == std::set<std::string>{"first", "second"});
  CHECK(Stop() == 0);
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: a timestamp that the broker refuses becomes now") {
  Start();
  Topic* topic = producer->OpenTopic("a");
  kafka.FailProduce({kInvalidTimestamp, kInvalidTimestamp});
  WaitingDelivery delivery(1);
  delivery.Send(*producer, *topic, DeliveryMode::kGuaranteed,
                {.value = "{}", .key = {}, .timestamp_ms = 1000});
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0) == "delivered");
  const auto records = kafka.Consume("a", 1);
  REQUIRE(records.size() == 1);
  CHECK(records[0].timestamp_ms > 1700000000000);
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: a final refusal is told with the broker's words") {
  Start();
  Topic* topic = producer->OpenTopic("a");
  kafka.FailProduce({kTopicAuthorizationFailed});
  WaitingDelivery delivery(1);
  delivery.Send(*producer, *topic, "1");
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0) == "delivery_failed: Broker: Topic authorization failed (topic a)");
  Stop();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: a broken generation is replaced and loses nothing") {
  options.conf.push_back({"queue.buffering.max.ms", "300"});
  Start();
  Topic* topic = producer->OpenTopic("a");
  WaitingDelivery delivery(20);
  for (int i = 0; i < 10; ++i) delivery.Send(*producer, *topic, std::to_string(i));
  producer->client(DeliveryMode::kGuaranteed).BreakGeneration("drill");
  for (int i = 10; i < 20; ++i) delivery.Send(*producer, *topic, std::to_string(i));
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 20; ++i) CHECK(delivery.Fate(i) == "delivered");
  CHECK(Values(kafka.Consume("a", 20)).size() == 20);
  CHECK(Counter("sluice_kafka_producer_generations_total{producer_type=\"guaranteed\"") == 2);
  CHECK(Stop() == 0);
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: Stop flushes what lingers") {
  options.conf.push_back({"queue.buffering.max.ms", "7000"});
  Start();
  Topic* topic = producer->OpenTopic("a");
  WaitingDelivery delivery(2);
  delivery.Send(*producer, *topic, "1", DeliveryMode::kHasty);
  delivery.Send(*producer, *topic, "2");
  const auto start = steady_clock::now();
  CHECK(Stop() == 0);
  CHECK(steady_clock::now() - start < seconds(6));
  REQUIRE(delivery.Wait());
  CHECK(delivery.Fate(0) == "delivered");
  CHECK(delivery.Fate(1) == "delivered");
  WaitingDelivery late(1);
  late.Send(*producer, *topic, "3");
  CHECK(late.Fate(0) == "shutting_down: the service is shutting down");
  late.Seal();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: Stop gives up in time and counts the hasty ones lost") {
  kafka.SetDown();
  Start();
  Topic* topic = producer->OpenTopic("a");
  WaitingDelivery delivery(5);
  for (int i = 0; i < 3; ++i) delivery.Send(*producer, *topic, "h", DeliveryMode::kHasty);
  for (int i = 0; i < 2; ++i) delivery.Send(*producer, *topic, "g");
  const auto start = steady_clock::now();
  CHECK(Stop(milliseconds(300)) == 3);
  CHECK(steady_clock::now() - start < milliseconds(4000));
  REQUIRE(delivery.Wait());
  for (std::uint32_t i = 0; i < 5; ++i) CHECK(delivery.Fate(i).starts_with("shutting_down: "));
  CHECK(producer->queued_bytes() == 0);
}

TEST_CASE("KafkaHandle: what librdkafka has to say is no record that waits") {
  // Polls nothing while it is held: log lines pile up.
  struct Sink final : KafkaHandle::Sink {
    std::promise<void> polled, release;
    std::atomic<bool> is_first{true};
    void OnReports(KafkaHandle& /*handle*/, KafkaHandle::Reports /*reports*/) override {}
    void OnRefused(KafkaHandle& /*handle*/, KafkaTopic& /*topic*/,
                   const KafkaWaves::Refused& /*refused*/) override {}
    void OnError(KafkaHandle& /*handle*/, rd_kafka_resp_err_t /*error*/,
                 const char* /*text*/) override {}
    void OnStatistics(KafkaHandle& /*handle*/, const char* /*json*/) override {}
    void OnPolled(KafkaHandle& /*handle*/) override {
      if (!is_first.exchange(false)) return;
      polled.set_value();
      release.get_future().wait();
    }
  } sink;
  auto conf = MakeKafkaConf({{"test", "bootstrap.servers", "127.0.0.1:1"},
                             {"test", "message.timeout.ms", "5000"},
                             {"test", "request.timeout.ms", "1000"},
                             {"test", "debug", "all"}});
  REQUIRE(conf.has_value());
  auto handle = KafkaHandle::Make(std::move(*conf), sink);
  REQUIRE(handle.has_value());
  sink.polled.get_future().wait();
  CHECK_FALSE((*handle)->Probe(milliseconds(300)));
  CHECK((*handle)->waiting() == 0);
  sink.release.set_value();
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: librdkafka's statistics become gauges") {
  options.conf.push_back({"statistics.interval.ms", "50"});
  Start();
  WaitingDelivery delivery(1);
  delivery.Send(*producer, *producer->OpenTopic("a"), "1");
  REQUIRE(delivery.Wait());
  const auto end = steady_clock::now() + seconds(20);
  const std::string name = "eventgate_rdkafka_txmsgs{producer_type=\"guaranteed\"";
  while (Counter(name) < 1 && steady_clock::now() < end) std::this_thread::yield();
  CHECK(Counter(name) == 1);
  CHECK(Counter("sluice_kafka_delivery_seconds_count{producer_type=\"guaranteed\"") == 1);
  Stop();
}

TEST_CASE_FIXTURE(Fixture,
                  "CheckKafka: a cluster that is down, one that tells little, wrong settings") {
  kafka.CreateTopic("a", 3);
  auto findings = CheckKafka(options, {"a"}, seconds(10));
  REQUIRE(findings.size() == 4);
  CHECK(findings[0].verdict == KafkaFinding::Verdict::kGood);
  CHECK(findings[1].verdict == KafkaFinding::Verdict::kWarning);
  CHECK(findings[1].text.starts_with("the settings of brokers cannot be read"));
  CHECK(findings[1].fix.find("allow this client DescribeConfigs") != std::string::npos);
  CHECK(findings[2].topic == "a");
  CHECK(findings[2].text == "3 partitions, 1 replicas");
  CHECK(findings[3].text.starts_with("the settings of topics cannot be read"));
  kafka.SetDown();
  findings = CheckKafka(options, {"a"}, milliseconds(500));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].verdict == KafkaFinding::Verdict::kProblem);
  CHECK(findings[0].text.starts_with("no broker answers ("));
  options.conf = {};
  findings = CheckKafka(options, {"a"}, milliseconds(500));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].text.starts_with("kafka.conf.metadata.broker.list is missing"));
}

TEST_CASE_FIXTURE(Fixture, "KafkaProducer: many threads and topics, a break in the middle, Stop") {
  options.hasty_conf = {{"queue.buffering.max.ms", "5"}};
  Start();
  constexpr int kThreads = 4;
  constexpr int kRequests = 60;
  std::atomic<int> delivered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRequests; ++i) {
        Topic* topic = producer->OpenTopic("t" + std::to_string(i % 3));
        WaitingDelivery delivery(4);
        for (int k = 0; k < 4; ++k) {
          delivery.Send(*producer, *topic,
                        std::to_string(t) + "/" + std::to_string(i) + "/" + std::to_string(k),
                        k == 3 ? DeliveryMode::kHasty : DeliveryMode::kGuaranteed);
        }
        if (t == 0 && i == kRequests / 2) {
          producer->client(DeliveryMode::kGuaranteed).BreakGeneration("drill");
          producer->client(DeliveryMode::kHasty).BreakGeneration("drill");
        }
        if (!delivery.Wait()) return;
        for (std::uint32_t k = 0; k < 4; ++k) delivered += delivery.Fate(k) == "delivered";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(delivered == kThreads * kRequests * 4);
  CHECK(Stop() == 0);
  std::set<std::string> all;
  for (const char* topic : {"t0", "t1", "t2"})
    all.merge(Values(kafka.Consume(topic, kThreads * kRequests / 3 * 4)));
  CHECK(all.size() == static_cast<std::size_t>(kThreads * kRequests * 4));
}

}  // namespace sluice::produce
