#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "produce/producer.h"

struct rd_kafka_conf_s;

namespace sluice::produce {

// Which of the two clusters: the one of kafka.conf, or that of kafka.fallback.conf.
enum class KafkaTarget : std::uint8_t { kFirst, kFallback };

// One entry for librdkafka and the place in our configuration that it comes from ("default" for
// ours).
struct KafkaEntry {
  std::string_view layer;
  std::string name;
  std::string value;
};

// The entries of one of the two producers, in the order in which they are applied: the later wins,
// also under another name of the same setting (linger.ms, queue.buffering.max.ms).
//
// Defaults, where they differ from librdkafka's: client.id from the user agent; idempotence on (off
// if `acks` is set to anything but "all"); linger 1 ms guaranteed, 1000 ms hasty;
// message.timeout.ms 8000 guaranteed (below limits.delivery_timeout, so that nobody is told
// "failed" before it is known), 60000 hasty; request.timeout.ms 5000, or less if message.timeout.ms
// is set to less than 8000; queue.buffering.max.kbytes
// 65536 (values and keys; the bound that counts) and queue.buffering.max.messages 1000000;
// statistics each 5 s; reconnects at least each 2 s; an unknown topic is given 4 s to be
// created, by the brokers unless `topics` says otherwise.
//
// For the fallback, kafka.fallback.conf is applied last, over everything else.
std::vector<KafkaEntry> MergeKafkaEntries(const core::KafkaOptions& options, DeliveryMode mode,
                                          std::string_view user_agent,
                                          KafkaTarget target = KafkaTarget::kFirst);

// True if an entry is for the original's Kafka client alone and means nothing to librdkafka or to
// us.
bool IsIgnoredKafkaEntry(std::string_view name);

// The entries that are left out for that reason, as "kafka.conf.producer.poll.interval.ms", each
// once.
std::vector<std::string> IgnoredKafkaEntries(const core::KafkaOptions& options);

// For check-config: connects to nothing. All problems in one message, one a line; those of the
// fallback too, if there is one.
core::Result<void> CheckKafkaConf(const core::KafkaOptions& options);

struct KafkaConfDeleter {
  void operator()(rd_kafka_conf_s* conf) const;
};
using KafkaConfPtr = std::unique_ptr<rd_kafka_conf_s, KafkaConfDeleter>;

// librdkafka's configuration with the entries applied; fails as CheckKafkaConf does.
core::Result<KafkaConfPtr> MakeKafkaConf(const std::vector<KafkaEntry>& entries);

// The entries of an instance that sends each record by itself, at once, for one that was in a batch
// that failed: a guaranteed record gets a quarter of its time-out, for much of the time is gone.
std::vector<KafkaEntry> EntriesForSingleRecords(std::vector<KafkaEntry> entries, DeliveryMode mode,
                                                std::chrono::milliseconds message_timeout);

// The effective value of a numeric setting; 0 if it has none.
std::int64_t KafkaNumber(const rd_kafka_conf_s& conf, const char* name);

// The effective value as text; empty if it has none.
std::string KafkaText(const rd_kafka_conf_s& conf, const char* name);

// What the entries of `options` come to, for checks against other settings. librdkafka looks for
// overdue records once a second, in two steps: a report may come up to two seconds later.
std::chrono::milliseconds KafkaMessageTimeout(const core::KafkaOptions& options, DeliveryMode mode,
                                              KafkaTarget target = KafkaTarget::kFirst);

}  // namespace sluice::produce
