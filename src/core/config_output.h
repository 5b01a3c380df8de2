#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Where events go: what can be configured of Kafka, files and the spool. The rest is in
// core/config.h.
namespace sluice::core {

using StringPairs = std::vector<std::pair<std::string, std::string>>;

enum class OutputKind : std::uint8_t { kKafka, kFiles, kDiscard };
enum class FsyncPolicy : std::uint8_t { kNever, kBatch };

// What happens to a topic that the cluster does not have.
enum class TopicPolicy : std::uint8_t { kCreate, kRequire };

struct KafkaTopicOptions {
  TopicPolicy policy = TopicPolicy::kCreate;
  // Of topics that are created. As long as none is given the brokers create them, on first use and
  // with their own defaults (auto.create.topics.enable); with any, Sluice does.
  int partitions = 0;                        // 0: the brokers' default
  int replication = 0;                       // 0: the brokers' default
  StringPairs config;                        // retention.ms, max.message.bytes and so on
  std::chrono::milliseconds refresh{30000};  // of what is known about topics

  bool CreatesItself() const {
    return policy == TopicPolicy::kCreate && (partitions > 0 || replication > 0 || !config.empty());
  }
};

// How far each producer's queue may be filled, in percent of queue.buffering.max.kbytes.
struct KafkaAdmitOptions {
  int guaranteed = 80;
  int hasty = 60;         // also refused while the guaranteed queue is fuller than this
  int topic_share = 100;  // of one topic, in percent of the room that is still free
};

// A second cluster, written to while the first cannot be reached.
struct KafkaFallbackOptions {
  StringPairs conf;                              // over kafka.conf; empty: there is none
  std::chrono::milliseconds after{60000};        // without a delivery of the first
  std::chrono::milliseconds back_after{120000};  // of the first being well again
  std::string topic_prefix;                      // before the whole topic name there

  bool configured() const { return !conf.empty(); }
};

struct KafkaOptions {
  StringPairs conf;  // to both producers, as librdkafka takes them
  StringPairs topic_conf;
  StringPairs guaranteed_conf;  // over conf
  StringPairs guaranteed_topic_conf;
  StringPairs hasty_conf;
  StringPairs hasty_topic_conf;
  std::chrono::milliseconds flush_timeout{8000};  // at shutdown
  KafkaTopicOptions topics;
  KafkaAdmitOptions admit;
  KafkaFallbackOptions fallback;
};

// Which events the spool takes when Kafka does not.
enum class SpoolMode : std::uint8_t { kOff, kHasty, kAll };

struct SpoolOptions {
  SpoolMode mode = SpoolMode::kHasty;
  std::string dir;  // empty: data_dir/spool
  FsyncPolicy fsync = FsyncPolicy::kBatch;
  std::chrono::milliseconds after{2000};  // without a delivery: then new events go to the spool
  std::uint64_t max_bytes = 4ull << 30;
  std::chrono::milliseconds max_age{std::chrono::hours(24 * 7)};  // 0: no bound
  std::uint64_t segment_bytes = 32u << 20;
  int replay_rate = 0;       // records a second; 0: as fast as Kafka takes them
  int replay_window = 4096;  // records that are replayed and not yet delivered
};

struct OutputOptions {
  OutputKind kind = OutputKind::kFiles;
  std::string data_dir = "var";
  FsyncPolicy fsync = FsyncPolicy::kBatch;
  KafkaOptions kafka;
  SpoolOptions spool;
};

}  // namespace sluice::core
