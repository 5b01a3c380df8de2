#pragma once

#include <memory>

#include "core/clock.h"
#include "core/config.h"
#include "core/metrics.h"
#include "intake/admin_server.h"
#include "intake/admin_tokens.h"
#include "registry/schema_registry.h"
#include "streams/declared_store.h"
#include "streams/stream_registry.h"

namespace sluice::intake {
class DeclaredRoutes;
}

namespace sluice::daemon {

// The streams that tools declare at run time: their files in data_dir, who may, the routes. Only
// where declared_streams.tokens_file is set.
class DeclaredStreams {
 public:
  struct Parts {
    const core::Config& config;
    const core::Clock& clock;
    streams::StreamRegistry& streams;
    registry::SchemaRegistry& schemas;
  };
  explicit DeclaredStreams(const Parts& parts);
  ~DeclaredStreams();

  // Makes what was declared before this start part of the stream configuration. Fails with what to
  // change. Blocks for the disk.
  core::Result<void> Start();
  // Before the listener serves.
  void AddTo(intake::AdminServer& admin);
  void AddGauges(core::Metrics& metrics);
  // After the listener has stopped.
  void Stop();

 private:
  intake::AdminTokens tokens_;
  const bool has_stream_config_;
  streams::DeclaredStore store_;
  std::unique_ptr<intake::DeclaredRoutes> routes_;
};

}  // namespace sluice::daemon
