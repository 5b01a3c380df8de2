#pragma once

#include <functional>
#include <memory>

#include "core/clock.h"
#include "core/config.h"
#include "core/metrics.h"
#include "intake/ingest.h"
#include "produce/producer.h"
#include "registry/schema_registry.h"
#include "streams/stream_registry.h"

namespace sluice::intake {

// From bytes to outcomes: parses, completes, routes, validates and produces the events of a
// request, and composes its answer. Knows no HTTP. One per I/O thread and used only there; whatever
// happens elsewhere (schema loads, delivery reports) comes back through `post`.
class EventPipeline {
 public:
  struct Parts {  // all outlive the pipeline
    const core::Config& config;
    registry::SchemaRegistry& schemas;
    streams::StreamRegistry& streams;
    produce::Producer& producer;
    core::Metrics& metrics;
    const core::Clock& clock;
    std::function<void(std::function<void()>)>
        post;  // runs a task on the I/O thread, callable from any
  };

  explicit EventPipeline(Parts parts);
  ~EventPipeline();

  // Answers through `sink`, which is kept until then. What the request views may go when this
  // returns.
  void Process(IngestRequest&& request, std::shared_ptr<ReplySink> sink);

  // Requests that wait for schemas or delivery reports.
  std::size_t waiting() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sluice::intake
