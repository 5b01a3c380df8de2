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

namespace sluice::streams {

// What the gate reads of one stream's settings (EventStreamConfig semantics).
struct StreamSettings {
  std::string key;  // the name, or the regex text for regex entries
  bool has_settings = false;
  std::optional<std::string> schema_title;
  core::StringPairs message_key_fields;  // key path -> event path, in order
  // producers.eventgate.enrich_fields_from_http_headers: field path -> header (lower case), empty:
  // this field is switched off. Absent: the stream says nothing about it. Present without any
  // entry: the stream said false, no field at all.
  std::optional<core::StringPairs> header_fields;
  std::string
      settings_json;  // all settings as they were given, in their order: a JSON object, or null
};

// All stream configuration at one moment. Immutable, any thread.
class StreamSnapshot {
 public:
  virtual ~StreamSnapshot() = default;
  // Exact key, else the first regex entry (`/…/`) in declaration order that matches; null: not
  // configured.
  virtual const StreamSettings* Find(std::string_view stream) const = 0;
  virtual std::size_t size() const = 0;
  std::uint64_t generation = 0;
};

// Holds the current snapshot; readers keep the one that they began with. With an empty `config_uri`
// there is none, and any schema may go to any stream.
class StreamRegistry {
 public:
  explicit StreamRegistry(const core::StreamOptions& options);
  ~StreamRegistry();

  // Reads the configuration once. Fails with kStreamConfigUnavailable and a message that names
  // file, line and reason.
  core::Result<void> Load();

  bool configured() const { return !options_.config_uri.empty(); }

  // The current snapshot, null if not configured. Changes only when generation() does.
  std::shared_ptr<const StreamSnapshot> Current() const;
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  core::StreamOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const StreamSnapshot> current_;
  std::atomic<std::uint64_t> generation_{0};
};

// The Kafka topic of a stream: the stream itself if it begins with "eventlogging_", else prefix +
// stream.
std::string TopicOf(std::string_view stream, std::string_view topic_prefix);

}  // namespace sluice::streams
