#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "core/metrics.h"
#include "intake/admission.h"
#include "intake/ingest_handler.h"
#include "intake/rate_limits.h"
#include "intake/tls_store.h"
#include "streams/stream_registry.h"

namespace sluice::intake {

struct ServerParts;

// The events listener: its I/O threads and their connections. The arguments outlive it. Its
// functions are called from one thread, not one of its own.
class EventServer {
 public:
  struct Extras {                                      // all outlive it, or are null
    const streams::StreamRegistry* streams = nullptr;  // where configured, it is served too
    RateLimits* rates = nullptr;                       // null: nothing is limited
    TlsStore* tls = nullptr;                           // null: plain HTTP
  };
  EventServer(const core::Config& config, AdmissionControl& admission, core::Metrics& metrics,
              IngestHandlerFactory make_handler, const Extras& extras);
  ~EventServer();

  // Binds and begins to serve. With `inherited`, listening sockets that somebody else keeps open,
  // accepts from those instead, and closes these descriptors. Fails with one sentence that says
  // what to change.
  core::Result<void> Start(const std::vector<int>& inherited = {});

  // "127.0.0.1:8888": what was bound, with the real port. Valid after Start.
  std::string address() const;
  std::uint16_t port() const;

  // What serving by `config` takes, for Use. Fails with one sentence that says what to change;
  // nothing has changed then. After Start.
  core::Result<std::shared_ptr<const ServerParts>> Prepare(ConfigPtr config) const;
  // Serves by these from now on, but for the addresses and the number of threads. Returns when
  // every thread does so, or false if one of them did not get to it in time. From any thread.
  bool Use(const std::shared_ptr<const ServerParts>& parts);

  // The first part of a stop whose successor has the listening sockets. Accepts nothing from now
  // on; each answer ends its connection; returns when no connection is left, or at `until`.
  void Leave(std::chrono::steady_clock::time_point until);
  // Then: closes the connections on which nothing came, and waits in the same way.
  void CloseIdle(std::chrono::steady_clock::time_point until);

  // When the I/O thread that is furthest behind last came round its loop. Any thread, between Start
  // and Stop.
  std::chrono::steady_clock::time_point last_beat() const;

  // No new connections and requests from now on: idle connections are closed, requests in flight go
  // on, the others get 503 and the end of their connection. Returns at once.
  void StartDrain();

  // StartDrain, then waits until every request was answered and the fate of its records is known,
  // until `deadline` at the latest; ends all connections and threads. False if something was still
  // in flight. After that the handlers are gone and their PostFunctions do nothing.
  bool Stop(std::chrono::steady_clock::time_point deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::intake
