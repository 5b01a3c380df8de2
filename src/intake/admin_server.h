#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "intake/admin_route.h"
#include "intake/tls_store.h"

namespace sluice::intake {

// One thing that must hold for events to be taken now.
struct ReadinessCondition {
  std::string name;  // "drain", "producer"
  bool ok = true;
  std::string detail;  // why not
};

struct AdminServerOptions {
  std::string interface = "127.0.0.1";
  std::uint16_t port = 0;
  // A few more are taken, which serve only health and metrics; beyond these the one that has been
  // waiting longest for its peer is closed for the new one. So neither strangers that hold
  // connections nor handlers that hang keep a health check out.
  int max_connections = 1024;
  TlsStore* tls = nullptr;       // null: plain HTTP; outlives the server
  std::string unix_socket = {};  // path of a further listener, always plain; empty: none
};

// The private listener for operators: GET /metrics, /healthz (alive, whatever the broker does),
// /readyz (200, or 503 while a condition does not hold; JSON that names each), and the routes that
// parts of the daemon add. One I/O thread, which also calls the providers, and a few workers for
// handlers that block.
class AdminServer {
 public:
  struct Providers {
    std::function<std::string()> metrics;  // Prometheus text
    std::function<std::vector<ReadinessCondition>()> readiness;
  };

  AdminServer(const AdminServerOptions& options, Providers providers);
  ~AdminServer();

  // Before Start. A handler may be called from the start until Stop has returned.
  void AddRoute(AdminRoute route);

  // Fails with one sentence that says what to change. With `inherited`, a listening socket that
  // somebody else keeps open, accepts from that instead of binding, and closes the descriptor.
  core::Result<void> Start(std::optional<int> inherited = std::nullopt);
  // Waits for handlers that run; requests that wait, and streams, are cut off.
  void Stop();

  // When its I/O thread last came round its loop. Any thread.
  std::chrono::steady_clock::time_point last_beat() const;

  std::string address() const;  // with the real port, after Start
  std::uint16_t port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::intake
