#include "produce/kafka_check.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "produce/kafka_admin.h"
#include "produce/kafka_conf.h"

namespace sluice::produce {
namespace {

using Verdict = KafkaFinding::Verdict;
using Settings = KafkaAdmin::Settings;

constexpr const char* kMayNot = "Broker: Topic authorization failed";

std::string Number(std::int64_t number) { return std::to_string(number); }

std::string TextIn(const Settings& settings, std::string_view key) {
  const auto at = settings.find(key);
  return at == settings.end() ? std::string() : at->second;
}

// 0 if there is none.
std::int64_t NumberIn(const Settings& settings, std::string_view key) {
  const std::string text = TextIn(settings, key);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class Check {
 public:
  Check(const core::KafkaOptions& options, KafkaTarget target, std::chrono::milliseconds timeout)
      : options_(options), target_(target), timeout_(timeout) {}

  std::vector<KafkaFinding> Run(const std::vector<std::string>& topics) {
    if (!Connect()) return std::move(findings_);
    LookAtBrokers();
    std::vector<std::string> present;
    for (const std::string& topic : topics) {
      if (LookAtTopic(topic)) present.push_back(topic);
    }
    const auto settings = admin_->Describe(KafkaAdmin::Resource::kTopic, present, timeout_);
    for (std::size_t i = 0; i < present.size(); ++i) {
      topic_ = present[i];
      if (settings[i]) {
        LookAtSettings(*settings[i]);
      } else {
        SayNotTold("the settings of topics", settings[i].error().message);
      }
    }
    return std::move(findings_);
  }

 private:
  void Say(Verdict verdict, std::string text, std::string fix = {}) {
    findings_.push_back({verdict, target_, topic_, std::move(text), std::move(fix)});
  }

  bool Connect() {
    const auto entries = MergeKafkaEntries(options_, DeliveryMode::kGuaranteed, "sluice", target_);
    const auto conf = MakeKafkaConf(entries);
    if (!conf) {
      Say(Verdict::kProblem, conf.error().message, "see sluice check-config");
      return false;
    }
    max_record_bytes_ = KafkaNumber(**conf, "message.max.bytes");
    batch_bytes_ = KafkaNumber(**conf, "batch.size");
    acks_ = KafkaNumber(**conf, "request.required.acks");
    compressed_ = KafkaText(**conf, "compression.codec") != "none";
    auto admin = KafkaAdmin::Make(entries);
    if (!admin) {
      Say(Verdict::kProblem, admin.error().message, "see sluice check-config");
      return false;
    }
    admin_ = std::move(*admin);
    auto cluster = admin_->Look(timeout_);
    if (!cluster) {
      Say(Verdict::kProblem, "no broker answers (" + cluster.error().message + ")",
          "check metadata.broker.list, the network, and security.protocol and what belongs to it");
      return false;
    }
    cluster_ = std::move(*cluster);
    return true;
  }

  void LookAtBrokers() {
    std::string brokers;
    for (const auto& broker : cluster_.brokers)
      brokers += (brokers.empty() ? "" : ", ") + broker.address;
    Say(Verdict::kGood, "brokers: " + brokers);
    if (cluster_.brokers.empty()) return;
    const auto answers =
        admin_->Describe(KafkaAdmin::Resource::kBroker, {Number(cluster_.brokers[0].id)}, timeout_);
    if (!answers[0]) return SayNotTold("the settings of brokers", answers[0].error().message);
    const Settings& settings = *answers[0];
    if (const std::string version = TextIn(settings, "inter.broker.protocol.version");
        !version.empty())
      Say(Verdict::kGood, "version of the brokers' protocol: " + version);
    if (const std::string enabled = TextIn(settings, "auto.create.topics.enable");
        !enabled.empty()) {
      auto_create_ = enabled == "true";
      Say(Verdict::kGood, std::string("the brokers create topics on first use: ") +
                              (*auto_create_ ? "yes" : "no") + " (auto.create.topics.enable)");
    }
  }

  // False if there is nothing more to be found out about it.
  bool LookAtTopic(const std::string& name) {
    topic_ = name;
    const auto at = cluster_.topics.find(name);
    if (at == cluster_.topics.end()) {
      SayMissing(name);
      return false;
    }
    const KafkaAdmin::TopicFacts& facts = at->second;
    if (!facts.error.empty()) {
      Say(Verdict::kProblem, facts.error, "see the brokers' logs");
      return false;
    }
    for (const KafkaAdmin::Partition& partition : facts.partitions) {
      const std::string place = "partition " + Number(partition.id) + ": ";
      if (!partition.has_leader) {
        Say(Verdict::kProblem, place + "no leader: its records time out (503)",
            "start the brokers of its replicas");
      } else if (partition.in_sync < partition.replicas) {
        Say(Verdict::kWarning,
            place + Number(partition.in_sync) + " of " + Number(partition.replicas) +
                " replicas in sync",
            "see whether a broker is down or slow");
      }
    }
    Say(Verdict::kGood, Number(static_cast<std::int64_t>(facts.partitions.size())) +
                            " partitions, " + Number(ReplicasOf(facts)) + " replicas");
    return true;
  }

  static int ReplicasOf(const KafkaAdmin::TopicFacts& facts) {
    int replicas = facts.partitions.empty() ? 0 : facts.partitions[0].replicas;
    for (const auto& partition : facts.partitions)
      replicas = std::min(replicas, partition.replicas);
    return replicas;
  }

  void SayMissing(const std::string& name) {
    if (admin_->ObjectionTo(name, timeout_) == kMayNot) {
      return Say(Verdict::kProblem, "may not be seen: its events fail",
                 "allow this client Describe and Write on it");
    }
    if (options_.topics.policy == core::TopicPolicy::kRequire) {
      return Say(Verdict::kProblem,
                 "not there: its events are refused (topic_unknown), as topics: require says",
                 "create it, or set topics: create");
    }
    if (options_.topics.CreatesItself()) {
      return Say(Verdict::kWarning, "not there yet: Sluice makes it on first use (kafka.topics.*)",
                 "allow this client Create, or make it before");
    }
    if (auto_create_.value_or(false)) {
      return Say(Verdict::kWarning,
                 "not there yet: the brokers make it on first use, with their defaults",
                 "make it before, or set kafka.topics.partitions, if those do not fit");
    }
    Say(Verdict::kProblem, "not there: its events fail after some seconds (topic_unknown)",
        std::string("create it, or set kafka.topics.partitions to have Sluice do so") +
            (auto_create_ ? "" : ", unless the brokers do on first use"));
  }

  void LookAtSettings(const Settings& settings) {
    LookAtLimit(NumberIn(settings, "max.message.bytes"));
    LookAtReplicas(NumberIn(settings, "min.insync.replicas"),
                   ReplicasOf(cluster_.topics.find(topic_)->second));
    LookAtTimes(settings);
  }

  void LookAtLimit(std::int64_t limit) {
    if (limit > 0 && limit < max_record_bytes_) {
      Say(Verdict::kWarning,
          "max.message.bytes " + Number(limit) + " is below the producer's message.max.bytes " +
              Number(max_record_bytes_) + ": larger records are refused" +
              (compressed_ ? " unless they get small enough by compression" : "") +
              " (record_too_large)",
          "make the two equal");
    }
    if (limit > 0 && limit < batch_bytes_) {
      Say(Verdict::kWarning,
          "max.message.bytes " + Number(limit) + " is below batch.size " + Number(batch_bytes_) +
              ": full batches are refused and their records sent one by one",
          "set kafka.conf.batch.size below it");
    }
  }

  void LookAtReplicas(std::int64_t in_sync, int replicas) {
    if (in_sync > replicas) {
      Say(Verdict::kProblem,
          "min.insync.replicas " + Number(in_sync) + " with " + Number(replicas) +
              " replicas: nothing can be written with acks: all",
          "lower it or add replicas");
    } else if (in_sync == replicas && replicas > 1) {
      Say(Verdict::kWarning,
          "min.insync.replicas equals the " + Number(replicas) +
              " replicas: the loss of one broker stops writing",
          "lower it by one or add a replica");
    } else if (acks_ == -1 && replicas == 1) {
      Say(Verdict::kWarning, "one replica: what was acknowledged goes with the loss of its broker",
          "have three replicas and min.insync.replicas 2");
    } else if (acks_ == -1 && in_sync == 1) {
      Say(Verdict::kWarning,
          "min.insync.replicas 1: with acks: all too, one copy is enough for an acknowledgement",
          "set it to 2");
    }
    if (acks_ >= 0 && acks_ < in_sync) {
      Say(Verdict::kWarning,
          "acks: " + Number(acks_) + " does not wait for min.insync.replicas " + Number(in_sync) +
              ": an acknowledged event may be lost with its leader, and idempotence is off",
          "set acks: all");
    }
  }

  void LookAtTimes(const Settings& settings) {
    if (TextIn(settings, "message.timestamp.type") == "LogAppendTime") {
      return Say(Verdict::kWarning,
                 "message.timestamp.type LogAppendTime: the time of the event (dt_field) is "
                 "replaced by the broker's",
                 "set it to CreateTime");
    }
    constexpr std::int64_t kDay = 24 * 3600 * 1000;
    for (const char* key :
         {"message.timestamp.difference.max.ms", "message.timestamp.before.max.ms"}) {
      const std::int64_t window = NumberIn(settings, key);
      if (window <= 0 || window > kDay) continue;
      Say(Verdict::kWarning,
          std::string(key) + " " + Number(window) +
              ": records of older events get the time at which they are sent",
          "raise it");
    }
  }

  // Once for each kind.
  void SayNotTold(const std::string& what, const std::string& why) {
    const std::string topic = std::exchange(topic_, {});
    const std::string text = what + " cannot be read (" + why + ")";
    if (std::none_of(findings_.begin(), findings_.end(),
                     [&](const KafkaFinding& finding) { return finding.text == text; }))
      Say(Verdict::kWarning, text, "allow this client DescribeConfigs to have them checked");
    topic_ = topic;
  }

  const core::KafkaOptions& options_;
  const KafkaTarget target_;
  const std::chrono::milliseconds timeout_;
  std::int64_t max_record_bytes_ = 0;
  std::int64_t batch_bytes_ = 0;
  std::int64_t acks_ = 0;
  bool compressed_ = false;
  std::optional<bool> auto_create_;
  std::string topic_;  // that is looked at
  std::unique_ptr<KafkaAdmin> admin_;
  KafkaAdmin::Cluster cluster_;
  std::vector<KafkaFinding> findings_;
};

}  // namespace

std::string_view ToString(KafkaFinding::Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return "good";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kProblem:
      return "problem";
  }
  return "problem";
}

std::vector<KafkaFinding> CheckKafka(const core::KafkaOptions& options,
                                     const std::vector<std::string>& topics,
                                     std::chrono::milliseconds timeout) {
  auto findings = Check(options, KafkaTarget::kFirst, timeout).Run(topics);
  if (!options.fallback.configured()) return findings;
  std::vector<std::string> there;
  there.reserve(topics.size());
  for (const std::string& topic : topics) there.push_back(options.fallback.topic_prefix + topic);
  auto more = Check(options, KafkaTarget::kFallback, timeout).Run(there);
  std::move(more.begin(), more.end(), std::back_inserter(findings));
  return findings;
}

}  // namespace sluice::produce
