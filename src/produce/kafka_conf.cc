#include "produce/kafka_conf.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice::produce {
namespace {

constexpr std::string_view kDefaultLayer = "default";

// Meant for node-rdkafka, which the original is built on.
constexpr std::array<std::string_view, 4> kIgnored = {"producer.poll.interval.ms", "dr_cb",
                                                      "dr_msg_cb", "event_cb"};

// What this program's own working rests on.
struct Reserved {
  std::string_view name;
  std::string_view reason;
};
constexpr std::array<Reserved, 4> kReserved = {{
    {"log.queue", "logs are always taken from the queue"},
    {"delivery.report.only.error", "every answer rests on a delivery report"},
    {"transactional.id", "records are not produced in transactions"},
    {"message.copy.max.bytes", "records are never copied"},
}};

bool IsAcks(std::string_view name) { return name == "acks" || name == "request.required.acks"; }

// The value that the last entry of one of the names has, empty if none has.
std::string_view LastOf(const std::vector<KafkaEntry>& entries,
                        std::initializer_list<std::string_view> names) {
  for (auto at = entries.rbegin(); at != entries.rend(); ++at) {
    if (std::find(names.begin(), names.end(), at->name) != names.end()) return at->value;
  }
  return {};
}

struct Layer {
  std::string_view name;
  const core::StringPairs* entries;
};

std::vector<Layer> LayersOf(const core::KafkaOptions& options, DeliveryMode mode,
                            KafkaTarget target) {
  std::vector<Layer> layers = {{"kafka.conf", &options.conf},
                               {"kafka.topic_conf", &options.topic_conf}};
  if (mode == DeliveryMode::kGuaranteed) {
    layers.push_back({"kafka.guaranteed.conf", &options.guaranteed_conf});
    layers.push_back({"kafka.guaranteed.topic_conf", &options.guaranteed_topic_conf});
  } else {
    layers.push_back({"kafka.hasty.conf", &options.hasty_conf});
    layers.push_back({"kafka.hasty.topic_conf", &options.hasty_topic_conf});
  }
  if (target == KafkaTarget::kFallback)
    layers.push_back({"kafka.fallback.conf", &options.fallback.conf});
  return layers;
}

std::vector<KafkaTarget> TargetsOf(const core::KafkaOptions& options) {
  if (!options.fallback.configured()) return {KafkaTarget::kFirst};
  return {KafkaTarget::kFirst, KafkaTarget::kFallback};
}

std::vector<KafkaEntry> Defaults(DeliveryMode mode, std::string_view user_agent) {
  const bool guaranteed = mode == DeliveryMode::kGuaranteed;
  std::vector<KafkaEntry> entries;
  const auto add = [&](std::string_view name, std::string value) {
    entries.push_back({kDefaultLayer, std::string(name), std::move(value)});
  };
  add("client.id",
      std::string(user_agent) + (guaranteed ? "-producer-guaranteed" : "-producer-hasty"));
  // 1 ms: with 32 connections three times the events a second of 5 ms, and no less with 256, since
  // records gather anyway while batches are under way.
  add("queue.buffering.max.ms", guaranteed ? "1" : "1000");
  add("message.timeout.ms", guaranteed ? "8000" : "60000");
  add("queue.buffering.max.kbytes", "65536");
  add("queue.buffering.max.messages", "1000000");
  add("statistics.interval.ms", "5000");
  add("reconnect.backoff.max.ms", "2000");
  add("topic.metadata.propagation.max.ms", "4000");
  add("socket.keepalive.enable", "true");
  add("socket.nagle.disable", "true");
  return entries;
}

// Of one try to write a batch: below the time of the record, of which it is a part.
std::string RequestTimeout(const std::vector<KafkaEntry>& entries) {
  const std::string_view text = LastOf(entries, {"message.timeout.ms", "delivery.timeout.ms"});
  std::int64_t message_ms = 0;
  std::from_chars(text.data(), text.data() + text.size(), message_ms);
  if (message_ms <= 0 || message_ms >= 8000) return "5000";
  return std::to_string(std::max<std::int64_t>(1, message_ms * 5 / 8));
}

// True for an entry that rd_kafka_conf_set may be given; otherwise appends why not.
bool CheckEntry(const KafkaEntry& entry, std::vector<std::string>& problems) {
  for (const Reserved& reserved : kReserved) {
    if (entry.name != reserved.name) continue;
    problems.push_back(std::string(entry.layer) + "." + entry.name +
                       " cannot be set: " + std::string(reserved.reason));
    return false;
  }
  return true;
}

void Apply(rd_kafka_conf_t* conf, const KafkaEntry& entry, std::vector<std::string>& problems) {
  std::array<char, 512> text{};
  rd_kafka_conf_res_t result = RD_KAFKA_CONF_OK;
  if (entry.layer.ends_with("topic_conf")) {
    // rd_kafka_conf_set takes both kinds; this tells a setting of the producer from one of its
    // topics.
    rd_kafka_topic_conf_t* scratch = rd_kafka_topic_conf_new();
    result = rd_kafka_topic_conf_set(scratch, entry.name.c_str(), entry.value.c_str(), text.data(),
                                     text.size());
    rd_kafka_topic_conf_destroy(scratch);
  }
  if (result == RD_KAFKA_CONF_OK) {
    result =
        rd_kafka_conf_set(conf, entry.name.c_str(), entry.value.c_str(), text.data(), text.size());
  }
  if (result == RD_KAFKA_CONF_OK) return;
  problems.push_back(std::string(entry.layer) + "." + entry.name + ": " + text.data());
}

// What librdkafka would only say when the producer is made.
void CheckTogether(const rd_kafka_conf_t& conf, const std::vector<KafkaEntry>& entries,
                   std::vector<std::string>& problems) {
  const std::int64_t message_timeout_ms = KafkaNumber(conf, "message.timeout.ms");
  const std::int64_t linger_ms = KafkaNumber(conf, "queue.buffering.max.ms");
  if (message_timeout_ms <= linger_ms) {
    problems.push_back("message.timeout.ms (" + std::to_string(message_timeout_ms) +
                       ") must be above queue.buffering.max.ms (" + std::to_string(linger_ms) +
                       "): a record would time out before it is sent");
  }
  const std::int64_t request_timeout_ms = KafkaNumber(conf, "request.timeout.ms");
  if (message_timeout_ms > 0 && request_timeout_ms >= message_timeout_ms) {
    problems.push_back("request.timeout.ms (" + std::to_string(request_timeout_ms) +
                       ") must be below message.timeout.ms (" + std::to_string(message_timeout_ms) +
                       "): a record would be given up before its broker answers");
  }
  if (LastOf(entries, {"metadata.broker.list", "bootstrap.servers"}).empty() &&
      LastOf(entries, {"test.mock.num.brokers"}).empty()) {
    problems.push_back("kafka.conf.metadata.broker.list is missing: name the brokers, host:port");
  }
  if (LastOf(entries, {"enable.idempotence"}) != "true") return;
  const std::string_view acks = LastOf(entries, {"acks", "request.required.acks"});
  if (!acks.empty() && acks != "all" && acks != "-1") {
    problems.push_back("enable.idempotence: true needs acks: all, not " + std::string(acks));
  }
  const std::string_view in_flight =
      LastOf(entries, {"max.in.flight", "max.in.flight.requests.per.connection"});
  if (!in_flight.empty() && in_flight != "1") {
    problems.push_back(
        "max.in.flight must be 1 with idempotence, or librdkafka may take a record that a broker "
        "refused for delivered: leave it out or set enable.idempotence: false");
  }
  if (LastOf(entries, {"retries", "message.send.max.retries"}) == "0") {
    problems.push_back(
        "retries: 0 contradicts idempotence: leave it out or set enable.idempotence: false");
  }
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

// Each once.
void AddLines(std::string_view text, std::vector<std::string>& lines) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

void KafkaConfDeleter::operator()(rd_kafka_conf_s* conf) const { rd_kafka_conf_destroy(conf); }

bool IsIgnoredKafkaEntry(std::string_view name) {
  return std::find(kIgnored.begin(), kIgnored.end(), name) != kIgnored.end();
}

std::vector<KafkaEntry> MergeKafkaEntries(const core::KafkaOptions& options, DeliveryMode mode,
                                          std::string_view user_agent, KafkaTarget target) {
  std::vector<KafkaEntry> entries = Defaults(mode, user_agent);
  bool idempotent = true;
  const std::size_t defaults = entries.size();
  for (const Layer& layer : LayersOf(options, mode, target)) {
    for (const auto& [name, value] : *layer.entries) {
      if (IsIgnoredKafkaEntry(name)) continue;
      if (IsAcks(name)) idempotent = value == "all" || value == "-1";
      entries.push_back({layer.name, name, value});
    }
  }
  const bool brokers_create =
      options.topics.policy == core::TopicPolicy::kCreate && !options.topics.CreatesItself();
  entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(defaults),
                 {{kDefaultLayer, "enable.idempotence", idempotent ? "true" : "false"},
                  {kDefaultLayer, "request.timeout.ms", RequestTimeout(entries)},
                  {kDefaultLayer, "allow.auto.create.topics", brokers_create ? "true" : "false"}});
  // With more, a record that a broker refused for now can be told as delivered: see
  // docs/decisions/0018-one-request-in-flight.md.
  if (LastOf(entries, {"enable.idempotence"}) == "true") {
    entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(defaults),
                   {kDefaultLayer, "max.in.flight.requests.per.connection", "1"});
  }
  return entries;
}

std::vector<std::string> IgnoredKafkaEntries(const core::KafkaOptions& options) {
  std::vector<std::string> ignored;
  for (DeliveryMode mode : {DeliveryMode::kGuaranteed, DeliveryMode::kHasty}) {
    for (const Layer& layer : LayersOf(options, mode, TargetsOf(options).back())) {
      for (const auto& entry : *layer.entries) {
        if (!IsIgnoredKafkaEntry(entry.first)) continue;
        std::string name = std::string(layer.name) + "." + entry.first;
        if (std::find(ignored.begin(), ignored.end(), name) == ignored.end())
          ignored.push_back(std::move(name));
      }
    }
  }
  return ignored;
}

core::Result<KafkaConfPtr> MakeKafkaConf(const std::vector<KafkaEntry>& entries) {
  KafkaConfPtr conf(rd_kafka_conf_new());
  std::vector<std::string> problems;
  for (const KafkaEntry& entry : entries) {
    if (CheckEntry(entry, problems)) Apply(conf.get(), entry, problems);
  }
  CheckTogether(*conf, entries, problems);
  if (!problems.empty()) return core::Error{core::ErrorCode::kInternal, Joined(problems)};
  return conf;
}

core::Result<void> CheckKafkaConf(const core::KafkaOptions& options) {
  // All producers read kafka.conf: what is wrong there is told once.
  std::vector<std::string> lines;
  for (KafkaTarget target : TargetsOf(options)) {
    for (DeliveryMode mode : {DeliveryMode::kGuaranteed, DeliveryMode::kHasty}) {
      const auto conf = MakeKafkaConf(MergeKafkaEntries(options, mode, "sluice", target));
      if (!conf.has_value()) AddLines(conf.error().message, lines);
    }
  }
  if (!lines.empty()) return core::Error{core::ErrorCode::kInternal, Joined(lines)};
  return {};
}

std::string KafkaText(const rd_kafka_conf_s& conf, const char* name) {
  std::array<char, 256> text{};
  std::size_t size = text.size();
  if (rd_kafka_conf_get(&conf, name, text.data(), &size) != RD_KAFKA_CONF_OK) return {};
  return text.data();
}

std::vector<KafkaEntry> EntriesForSingleRecords(std::vector<KafkaEntry> entries, DeliveryMode mode,
                                                std::chrono::milliseconds message_timeout) {
  // A spool's records have a day; librdkafka allows a request 15 minutes.
  constexpr std::chrono::milliseconds kLongestRequest{30000};
  entries.push_back({"default", "batch.num.messages", "1"});
  entries.push_back({"default", "queue.buffering.max.ms", "0"});
  if (mode == DeliveryMode::kGuaranteed) {
    const auto left = std::max(message_timeout / 4, std::chrono::milliseconds(20));
    const auto request = std::min(left / 2, kLongestRequest);
    entries.push_back({"default", "message.timeout.ms", std::to_string(left.count())});
    entries.push_back({"default", "request.timeout.ms", std::to_string(request.count())});
  }
  return entries;
}

std::int64_t KafkaNumber(const rd_kafka_conf_s& conf, const char* name) {
  const std::string text = KafkaText(conf, name);
  std::int64_t value = 0;
  // librdkafka prints some numbers with a fraction ("5" may come as "5.000000"); what follows the
  // digits is left.
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::chrono::milliseconds KafkaMessageTimeout(const core::KafkaOptions& options, DeliveryMode mode,
                                              KafkaTarget target) {
  const auto conf = MakeKafkaConf(MergeKafkaEntries(options, mode, "sluice", target));
  return std::chrono::milliseconds(conf ? KafkaNumber(**conf, "message.timeout.ms") : 0);
}

}  // namespace sluice::produce
