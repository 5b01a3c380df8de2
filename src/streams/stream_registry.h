#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "streams/served_topics.h"
#include "streams/topic_limit.h"

namespace sluice::validate {
class Pattern;
}

namespace sluice::streams {

class StaticSnapshot;

// One entry of the stream configuration: all its settings, and what the gate reads of them
// (EventStreamConfig semantics).
struct StreamSettings {
  std::string key;            // the name, or the regex text for regex entries
  bool regex = false;         // the key begins with '/'
  bool declared = false;      // set at run time, not by a static source
  bool has_settings = false;  // false: the entry is null, and there are no default settings
  std::optional<std::string> schema_title;
  core::StringPairs message_key_fields;  // key path -> event path, in order
  // producers.eventgate.enrich_fields_from_http_headers: field path -> header (lower case), empty:
  // this field is switched off. Absent: the stream says nothing about it. Present without any
  // entry: the stream said false, no field at all.
  std::optional<core::StringPairs> header_fields;
  bool without_topic_prefix = false;  // topic_prefixes is null
  bool edge_uniques = false;          // producers.eventgate.use_edge_uniques
  bool test_kitchen = false;          // producers.test_kitchen.is_test_kitchen_stream
  // All settings, those of the stream over the default ones, `stream` being the key: a JSON object
  // as JSON.stringify writes it, in the order of the merge.
  std::string settings_json;
  ServedTopics topics;  // what the member `topics` of the text is when it is served
  // What stands between the slashes of a regex key; null for others. The gate uses only entries
  // that end with '/' too: behind it would be modifiers, which are not read.
  std::shared_ptr<const validate::Pattern> pattern;
};

// All stream configuration at one moment. Immutable, any thread.
class StreamSnapshot {
 public:
  virtual ~StreamSnapshot() = default;
  // Exact key, else the first regex entry (`/…/`) in declaration order that matches; null: not
  // configured.
  virtual const StreamSettings* Find(std::string_view stream) const = 0;
  // The entry with this key, regex texts included; null: there is none.
  virtual const StreamSettings* FindKey(std::string_view key) const = 0;
  virtual std::size_t size() const = 0;
  // In the order of their declaration, i < size(): static entries first, declared ones behind them.
  virtual const StreamSettings& entry(std::size_t i) const = 0;
  std::uint64_t generation = 0;
};

// A stream that was declared at run time; settings as a JSON object, without default settings.
struct DeclaredStream {
  std::string name;
  std::string settings_json;
};

// Holds the current snapshot; readers keep the one that they began with. Without a source of stream
// configuration there is none, and any schema may go to any stream. All members may be called from
// any thread.
class StreamRegistry {
 public:
  explicit StreamRegistry(const core::StreamOptions& options);
  ~StreamRegistry();

  bool configured() const { return configured_; }

  // Reads all sources once and publishes what they say. Fails with kStreamConfigUnavailable, and
  // changes nothing then. Blocks; does nothing if not configured.
  core::Result<void> Load();

  // Publishes new static streams, the declared ones behind them.
  void Publish(std::shared_ptr<const StaticSnapshot> streams);

  // Replaces all declared streams. They take part in a snapshot as soon as there are static streams
  // (an empty `stream_config` counts), and stay through refreshes. One with the name of a static
  // key is kept but not used: static wins. A declared name is found before a static regex that
  // matches it. One that is good alone but not with the default settings of now is not used as
  // long as that is so. Fails with kStreamConfigUnavailable and what is wrong, and changes nothing
  // then; also if not configured. Takes time in proportion to `streams`.
  core::Result<void> SetDeclared(std::vector<DeclaredStream> streams);

  // The current snapshot, null if not configured or not read yet. Changes only when generation()
  // does.
  std::shared_ptr<const StreamSnapshot> Current() const;
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Of this process, whatever the snapshot.
  TopicLimit& topics() { return topics_; }

 private:
  void Swap(const std::lock_guard<std::mutex>& changing);

  const core::StreamOptions options_;
  const bool configured_;
  std::mutex changing_;  // one change at a time; readers take only mutex_
  std::shared_ptr<const StaticSnapshot> static_;
  std::vector<DeclaredStream> declared_;
  mutable std::mutex mutex_;
  std::shared_ptr<const StreamSnapshot> current_;
  std::atomic<std::uint64_t> generation_{0};
  TopicLimit topics_;
};

// Reads all sources that the options name, once, for commands. Fails as StreamRegistry::Load. Null
// if the options name none.
core::Result<std::shared_ptr<const StreamSnapshot>> ReadStreamConfig(
    const core::StreamOptions& options);

// The same without a registry around it, for StreamRegistry::Publish.
core::Result<std::shared_ptr<const StaticSnapshot>> ReadStaticStreams(
    const core::StreamOptions& options);

// Whether the options name a source of stream configuration.
bool NamesStreamConfig(const core::StreamOptions& options);

// The Kafka topic of a stream: the stream itself if it begins with "eventlogging_", else prefix +
// stream.
std::string TopicOf(std::string_view stream, std::string_view topic_prefix);

// The same with options.topic_prefix, left out too where options.follow_topic_prefixes is set and
// the stream has topic_prefixes: null. `settings` may be null.
std::string TopicOf(std::string_view stream, const StreamSettings* settings,
                    const core::StreamOptions& options);

}  // namespace sluice::streams
