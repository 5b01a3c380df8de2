#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/explain_schema.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/metrics.h"
#include "intake/event_processor.h"
#include "intake/ingest.h"
#include "produce/producer.h"
#include "registry/schema_registry.h"
#include "streams/stream_registry.h"

namespace sluice::cli {

// What would have gone to Kafka.
struct ProducedRecord {
  std::string topic;
  std::string key;  // empty: none
  std::string value;
  std::int64_t timestamp_ms = 0;  // 0: the broker's own
};

// What came of one event.
struct DryRun {
  intake::IngestReply reply;
  std::optional<ProducedRecord> record;
};

// The inside of the daemon as far as an event meets it, without listeners and without an output:
// the same pipeline, stream configuration and schemas. Used on one thread.
class DryDaemon {
 public:
  // The headers of the request that the event is thought to come with, by lower-case name.
  using Headers = std::map<std::string, std::string, std::less<>>;

  explicit DryDaemon(const core::Config& config);
  ~DryDaemon();

  // Reads the stream configuration and checks the base URIs. Fails as the daemon would not start.
  core::Result<void> Start();

  // Processes one event, alone in its request. Blocks until the answer is known.
  DryRun Process(std::string_view event, const Headers& headers);

  // Where the event says that it belongs, as the pipeline reads it. Views into `document`, or valid
  // until the next call.
  intake::EventAddress AddressOf(const validate::Document& document, const validate::Node* root);

  // As it is run: without the error stream, which error_stream() tells.
  const core::Config& config() const { return config_; }
  const std::string& error_stream() const { return error_stream_; }
  const streams::StreamRegistry& streams() const { return streams_; }
  const SchemaBook& book() const { return book_; }
  registry::SchemaPtr Schema(std::string_view uri) const { return schemas_.Cached(uri); }

 private:
  class Collector;
  class Answer;
  void Post(std::function<void()> task);
  bool RunOne();

  const std::string error_stream_;
  const core::Config config_;
  core::SystemClock clock_;
  core::Metrics metrics_;
  SchemaBook book_;
  streams::StreamRegistry streams_;
  registry::SchemaRegistry schemas_;
  std::unique_ptr<Collector> producer_;
  intake::EventProcessor processor_;  // for AddressOf
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> tasks_;
};

}  // namespace sluice::cli
