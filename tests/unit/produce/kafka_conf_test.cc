#include "produce/kafka_conf.h"

#include <doctest/doctest.h>

#include <map>

namespace sluice::produce {
namespace {

core::KafkaOptions Good() {
  core::KafkaOptions options;
  options.conf = {{"metadata.broker.list", "localhost:9092"}};
  return options;
}

// The value that counts, by the names used.
std::map<std::string, std::string> Effective(const core::KafkaOptions& options, DeliveryMode mode) {
  std::map<std::string, std::string> values;
  for (const KafkaEntry& entry : MergeKafkaEntries(options, mode, "agent"))
    values[entry.name] = entry.value;
  return values;
}

std::string Problem(const core::KafkaOptions& options) {
  const auto result = CheckKafkaConf(options);
  return result.has_value() ? "" : result.error().message;
}

}  // namespace

TEST_CASE("KafkaConf: the defaults of the two producers") {
  auto guaranteed = Effective(Good(), DeliveryMode::kGuaranteed);
  CHECK(guaranteed["client.id"] == "agent-producer-guaranteed");
  CHECK(guaranteed["enable.idempotence"] == "true");
  CHECK(guaranteed["queue.buffering.max.ms"] == "1");
  auto hasty = Effective(Good(), DeliveryMode::kHasty);
  CHECK(hasty["client.id"] == "agent-producer-hasty");
  CHECK(hasty["enable.idempotence"] == "true");
  CHECK(hasty["queue.buffering.max.ms"] == "1000");
  CHECK(KafkaMessageTimeout(Good(), DeliveryMode::kGuaranteed).count() == 8000);
  CHECK(KafkaMessageTimeout(Good(), DeliveryMode::kHasty).count() == 60000);
}

TEST_CASE("KafkaConf: the type's entries win over the common ones and those over the defaults") {
  auto options = Good();
  options.conf.push_back({"queue.buffering.max.ms", "7"});
  options.conf.push_back({"client.id", "mine"});
  options.hasty_conf = {{"queue.buffering.max.ms", "50"}};
  options.topic_conf = {{"message.timeout.ms", "3000"}};
  options.hasty_topic_conf = {{"message.timeout.ms", "4000"}};
  CHECK(Effective(options, DeliveryMode::kGuaranteed)["queue.buffering.max.ms"] == "7");
  CHECK(Effective(options, DeliveryMode::kGuaranteed)["client.id"] == "mine");
  CHECK(Effective(options, DeliveryMode::kHasty)["queue.buffering.max.ms"] == "50");
  CHECK(KafkaMessageTimeout(options, DeliveryMode::kGuaranteed).count() == 3000);
  CHECK(KafkaMessageTimeout(options, DeliveryMode::kHasty).count() == 4000);
}

TEST_CASE("KafkaConf: another name of the same setting wins too") {
  auto options = Good();
  options.conf.push_back({"linger.ms", "3"});
  const auto conf = MakeKafkaConf(MergeKafkaEntries(options, DeliveryMode::kHasty, "agent"));
  REQUIRE(conf.has_value());
  CHECK(KafkaNumber(**conf, "queue.buffering.max.ms") == 3);
}

TEST_CASE("KafkaConf: idempotence is off where acks says so") {
  auto options = Good();
  options.guaranteed_topic_conf = {{"request.required.acks", "1"}};
  options.hasty_conf = {{"acks", "all"}};
  CHECK(Effective(options, DeliveryMode::kGuaranteed)["enable.idempotence"] == "false");
  CHECK(Effective(options, DeliveryMode::kHasty)["enable.idempotence"] == "true");
  CHECK(Problem(options) == "");
}

TEST_CASE("KafkaConf: what the original's client alone understands is left out and listed") {
  auto options = Good();
  options.conf.push_back({"dr_cb", "true"});
  options.hasty_conf = {{"producer.poll.interval.ms", "100"}};
  CHECK(Problem(options) == "");
  CHECK(IgnoredKafkaEntries(options) ==
        std::vector<std::string>{"kafka.conf.dr_cb", "kafka.hasty.conf.producer.poll.interval.ms"});
}

TEST_CASE("KafkaConf: all problems are told at once, each once") {
  core::KafkaOptions options;
  options.conf = {{"no.such.thing", "1"}, {"acks", "17000000"}};
  options.topic_conf = {{"client.id", "x"}};
  options.hasty_conf = {{"transactional.id", "t"}};
  const std::string problem = Problem(options);
  CHECK(problem.find("kafka.conf.no.such.thing: ") == 0);
  CHECK(problem.find("kafka.conf.no.such.thing: ", 1) == std::string::npos);
  CHECK(problem.find("\nkafka.conf.acks: ") != std::string::npos);
  CHECK(problem.find("\nkafka.topic_conf.client.id: ") != std::string::npos);
  CHECK(problem.find("\nkafka.hasty.conf.transactional.id cannot be set: ") != std::string::npos);
  CHECK(problem.find("\nkafka.conf.metadata.broker.list is missing") != std::string::npos);
}

TEST_CASE("KafkaConf: contradictions to idempotence are found before a producer is made") {
  auto options = Good();
  options.conf.push_back({"enable.idempotence", "true"});
  options.topic_conf = {{"acks", "1"}};
  CHECK(Problem(options).find("needs acks: all") != std::string::npos);
  options.topic_conf = {};
  options.conf.push_back({"max.in.flight.requests.per.connection", "10"});
  CHECK(Problem(options).find("max.in.flight must be 1") != std::string::npos);
  options.conf.back().second = "2";
  CHECK(Problem(options).find("max.in.flight must be 1") != std::string::npos);
  options.conf.back().second = "1";
  CHECK(Problem(options) == "");
  options.conf.push_back({"retries", "0"});
  CHECK(Problem(options).find("retries: 0 contradicts") != std::string::npos);
}

TEST_CASE("KafkaConf: a record must not time out before it is sent") {
  auto options = Good();
  options.topic_conf = {{"message.timeout.ms", "1000"}};
  CHECK(Problem(options) ==
        "message.timeout.ms (1000) must be above queue.buffering.max.ms (1000): a record would "
        "time out before it is sent");
  options.hasty_conf = {{"linger.ms", "50"}};
  CHECK(Problem(options) == "");
  options.topic_conf = {{"message.timeout.ms", "0"}};  // for librdkafka: wait for ever
  CHECK(Problem(options).find("message.timeout.ms (0) must be above") != std::string::npos);
}

TEST_CASE("KafkaConf: a request is given less time than its records") {
  auto options = Good();
  CHECK(Effective(options, DeliveryMode::kGuaranteed)["request.timeout.ms"] == "5000");
  options.topic_conf = {{"message.timeout.ms", "4000"}};
  CHECK(Effective(options, DeliveryMode::kGuaranteed)["request.timeout.ms"] == "2500");
  CHECK(Problem(options) == "");
  options.topic_conf.push_back({"request.timeout.ms", "4000"});
  CHECK(Problem(options) ==
        "request.timeout.ms (4000) must be below message.timeout.ms (4000): a record would be "
        "given up before its broker answers");
}

TEST_CASE("KafkaConf: an instance for single records can be made whatever the time-out") {
  for (const DeliveryMode mode : {DeliveryMode::kGuaranteed, DeliveryMode::kHasty}) {
    for (const int seconds : {0, 1, 8, 60, 3600, 24 * 3600}) {
      CAPTURE(seconds);
      core::KafkaOptions options;
      const std::string timeout = std::to_string(seconds == 0 ? 20 : seconds * 1000);
      options.conf = {{"bootstrap.servers", "localhost:1"}, {"message.timeout.ms", timeout}};
      const auto entries = EntriesForSingleRecords(MergeKafkaEntries(options, mode, "test"), mode,
                                                   std::chrono::milliseconds(std::stoll(timeout)));
      const auto conf = MakeKafkaConf(entries);
      CHECK_MESSAGE(conf.has_value(), (conf.has_value() ? "" : conf.error().message));
    }
  }
}

TEST_CASE("KafkaConf: keys land where librdkafka puts them") {
  for (const DeliveryMode mode : {DeliveryMode::kGuaranteed, DeliveryMode::kHasty}) {
    const auto conf = MakeKafkaConf(MergeKafkaEntries(Good(), mode, "agent"));
    REQUIRE(conf.has_value());
    CHECK(KafkaText(**conf, "partitioner") == "consistent_random");
  }
}

TEST_CASE("KafkaConf: the brokers may make topics only where the policy leaves it to them") {
  auto options = Good();
  const auto allowed = [&] {
    return Effective(options, DeliveryMode::kHasty)["allow.auto.create.topics"];
  };
  CHECK(allowed() == "true");
  options.topics.partitions = 3;  // then Sluice does
  CHECK(allowed() == "false");
  options.topics.partitions = 0;
  options.topics.policy = core::TopicPolicy::kRequire;
  CHECK(allowed() == "false");
}

TEST_CASE("MakeProducer: a Kafka configuration that is wrong makes no producer") {
  core::Metrics metrics({}, "test");
  core::OutputOptions options;
  options.kind = core::OutputKind::kKafka;
  const auto producer = MakeProducer(options, "test", metrics);
  REQUIRE_FALSE(producer.has_value());
  CHECK(producer.error().message ==
        "kafka.conf.metadata.broker.list is missing: name the brokers, host:port");
}

}  // namespace sluice::produce
