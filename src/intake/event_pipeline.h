#pragma once

#include <chrono>
#include <memory>

#include "core/clock.h"
#include "core/config.h"
#include "core/metrics.h"
#include "intake/event_watch.h"
#include "intake/ingest.h"
#include "intake/ingest_handler.h"
#include "intake/rate_limits.h"
#include "produce/producer.h"
#include "registry/schema_registry.h"
#include "streams/stream_registry.h"

namespace sluice::intake {

// From bytes to outcomes: parses, completes, routes, validates and produces the events of a
// request, and composes its answer. Knows no HTTP. One per I/O thread and used only there; what
// happens elsewhere (schema loads, delivery reports) comes back through `post`.
class EventPipeline final : public IngestHandler {
 public:
  struct Parts {  // all outlive the pipeline
    const core::Config& config;
    registry::SchemaRegistry& schemas;
    streams::StreamRegistry& streams;
    produce::Producer& producer;
    core::Metrics& metrics;
    const core::Clock& clock;
    PostFunction post;
    EventObservers observers = {};
    RateLimits* rates = nullptr;  // null: nothing is limited
  };

  explicit EventPipeline(Parts parts);
  ~EventPipeline() override;

  // Answers through `sink`, which is kept until then.
  void Process(IngestRequest&& request, std::shared_ptr<ReplySink> sink) override;

  void NoteRefused(const core::Error& error, std::string_view request_id,
                   std::uint64_t body_bytes) override;

  // Answers requests that waited longer than limits.delivery_timeout with what is known by then.
  void Tick(std::chrono::steady_clock::time_point now) override;

  // In place of Parts::config.
  void UseConfig(ConfigPtr config) override;

  class Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace sluice::intake
