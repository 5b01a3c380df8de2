#include <array>

#include "daemon/config_rows.h"

namespace sluice::daemon {
namespace {

using core::Config;
using core::KafkaAdmitOptions;
using core::KafkaFallbackOptions;
using core::KafkaOptions;
using core::KafkaTopicOptions;
using core::OutputOptions;
using core::SpoolOptions;

template <auto Field>
constexpr auto kOutput = &In<&Config::output, Field>;
template <auto Field>
constexpr auto kKafka = &In<&Config::output, &OutputOptions::kafka, Field>;
template <auto Field>
constexpr auto kTopics = &In<&Config::output, &OutputOptions::kafka, &KafkaOptions::topics, Field>;
template <auto Field>
constexpr auto kFallback =
    &In<&Config::output, &OutputOptions::kafka, &KafkaOptions::fallback, Field>;
template <auto Field>
constexpr auto kAdmit = &In<&Config::output, &OutputOptions::kafka, &KafkaOptions::admit, Field>;
template <auto Field>
constexpr auto kSpool = &In<&Config::output, &OutputOptions::spool, Field>;

// clang-format off
const auto kKeys = std::to_array<ConfigKey>({
    {"output", kOutput<&OutputOptions::kind>,
     "Where events go: Kafka, one file for each topic under data_dir, or nowhere (for measuring). The default is "
     "kafka if kafka.conf names brokers.", 0, 2, Notation::kPlain, "kafka"},
    {"data_dir", kOutput<&OutputOptions::data_dir>,
     "Folder for what this instance writes: topics/<topic>.ndjson with output: files.",
     0, 0, Notation::kPlain, "/var/lib/sluice"},
    {"files.fsync", kOutput<&OutputOptions::fsync>,
     "Whether files are flushed to disk before events are acknowledged (once for each batch)."},
    {"topics", kTopics<&KafkaTopicOptions::policy>,
     "What happens to the events of a topic that the cluster does not have. create: it is made on first use, by the "
     "brokers if they do so (auto.create.topics.enable), or by Sluice as soon as one of kafka.topics.partitions, "
     "replication or config is set. require: they are refused at once (topic_unknown) and no topic is ever made."},
    {"kafka.conf", kKafka<&KafkaOptions::conf>,
     "Settings of both producers, as librdkafka names them.", 0, 0, Notation::kKafkaConf,
     "{metadata.broker.list: \"kafka1:9092,kafka2:9092\", compression.codec: snappy, statistics.interval.ms: 10000}"},
    {"kafka.topic_conf", kKafka<&KafkaOptions::topic_conf>,
     "Topic settings of both producers, as librdkafka names them.", 0, 0, Notation::kKafkaConf},
    {"kafka.guaranteed.conf", kKafka<&KafkaOptions::guaranteed_conf>,
     "Over kafka.conf for the producer whose delivery reports are waited for.", 0, 0, Notation::kKafkaConf,
     "{queue.buffering.max.ms: 10}"},
    {"kafka.guaranteed.topic_conf", kKafka<&KafkaOptions::guaranteed_topic_conf>,
     "Over kafka.topic_conf for the same.", 0, 0, Notation::kKafkaConf},
    {"kafka.hasty.conf", kKafka<&KafkaOptions::hasty_conf>,
     "Over kafka.conf for the producer of events posted with ?hasty=true.", 0, 0, Notation::kKafkaConf,
     "{queue.buffering.max.ms: 1000}"},
    {"kafka.hasty.topic_conf", kKafka<&KafkaOptions::hasty_topic_conf>,
     "Over kafka.topic_conf for the same.", 0, 0, Notation::kKafkaConf},
    {"kafka.fallback.conf", kFallback<&KafkaFallbackOptions::conf>,
     "A second cluster, which gets new events while the first is out of reach: over all other settings of both "
     "producers, as librdkafka names them, its metadata.broker.list in the first place. Empty: there is none.",
     0, 0, Notation::kKafkaConf, "{metadata.broker.list: \"kafka3:9092,kafka4:9092\"}"},
    {"kafka.fallback.after", kFallback<&KafkaFallbackOptions::after>,
     "New events go to the fallback once no broker of the first cluster answered, and nothing was delivered there, "
     "for so long. Above message.timeout.ms of the guaranteed producer.", 1000, kHour},
    {"kafka.fallback.back_after", kFallback<&KafkaFallbackOptions::back_after>,
     "They go to the first cluster again once it answered for so long without a break.", 1000, 24 * kHour},
    {"kafka.fallback.topic_prefix", kFallback<&KafkaFallbackOptions::topic_prefix>,
     "Put before the whole name of a topic, topic_prefix of the first cluster included, to make its name in the "
     "fallback.", 0, 0, Notation::kPlain, "fallback."},
    {"kafka.flush_timeout", kKafka<&KafkaOptions::flush_timeout>,
     "Longest time at shutdown for records that are still queued. Within shutdown.deadline.", 0, kHour},
    {"kafka.topics.partitions", kTopics<&KafkaTopicOptions::partitions>,
     "Partitions of topics that Sluice creates; 0: the brokers' default.", 0, 100'000},
    {"kafka.topics.replication", kTopics<&KafkaTopicOptions::replication>,
     "Replicas of topics that Sluice creates; 0: the brokers' default.", 0, 1000},
    {"kafka.topics.config", kTopics<&KafkaTopicOptions::config>,
     "Settings of topics that Sluice creates, as Kafka names them.", 0, 0, Notation::kPlain,
     "{retention.ms: 604800000}"},
    {"kafka.topics.refresh", kTopics<&KafkaTopicOptions::refresh>,
     "How often topics are asked for again: whether they are there, and their max.message.bytes.",
     100, 24 * kHour},
    {"kafka.admit.guaranteed", kAdmit<&KafkaAdmitOptions::guaranteed>,
     "Events whose answer is waited for get 503 once their queue is filled to this percentage of "
     "queue.buffering.max.kbytes.", 1, 100},
    {"kafka.admit.hasty", kAdmit<&KafkaAdmitOptions::hasty>,
     "The same for hasty events, which are also refused while the other queue is filled to this percentage.", 1, 100},
    {"kafka.admit.topic_share", kAdmit<&KafkaAdmitOptions::topic_share>,
     "How much one topic may hold of a queue, in percent of the room that is still free, so that one that does not "
     "drain leaves room for the others. 100: n such topics hold an n+1st of it each.", 1, 10'000},

    {"spool.mode", kSpool<&SpoolOptions::mode>,
     "Which events are kept on this machine's disk while Kafka does not take them, with output: kafka. hasty: those "
     "that were answered 202. all: also the guaranteed ones, which are then answered 201 once they are on disk."},
    {"spool.dir", kSpool<&SpoolOptions::dir>,
     "Folder of the spool, of this instance alone; empty: spool under data_dir."},
    {"spool.fsync", kSpool<&SpoolOptions::fsync>,
     "Whether spooled events are flushed to disk before they count as kept (once for all that wait). never: they "
     "survive the end of the process, but no loss of power."},
    {"spool.after", kSpool<&SpoolOptions::after>,
     "How long Kafka may deliver nothing while events wait before further ones go to the spool at once.",
     100, kHour},
    {"spool.max_bytes", kSpool<&SpoolOptions::max_bytes>,
     "Most bytes of the folder. Above, events are refused; what is spooled stays.", kMiB, 1024 * kGiB, Notation::kBytes},
    {"spool.max_age", kSpool<&SpoolOptions::max_age>,
     "Once the oldest spooled event waits longer than this, further ones are refused; what is spooled stays. "
     "0: no bound.", 0, 365 * 24 * kHour},
    {"spool.segment_bytes", kSpool<&SpoolOptions::segment_bytes>,
     "Size of one file of the spool; a file is removed when all of it is delivered.", 64 * kKiB, kGiB, Notation::kBytes},
    {"spool.replay_rate", kSpool<&SpoolOptions::replay_rate>,
     "Most spooled events a second that are sent to Kafka; 0: no bound.", 0, 10'000'000},
    {"spool.replay_window", kSpool<&SpoolOptions::replay_window>,
     "Most spooled events that are on their way to Kafka at one time. After a crash at most twice as many are sent "
     "a second time.", 1, 1'000'000},
});
// clang-format on

}  // namespace

std::span<const ConfigKey> OutputKeys() { return kKeys; }

}  // namespace sluice::daemon
