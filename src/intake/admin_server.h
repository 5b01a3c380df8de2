#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"

namespace sluice::intake {

// One thing that must hold for events to be taken now.
struct ReadinessCondition {
  std::string name;  // "drain", "producer"
  bool ok = true;
  std::string detail;  // why not
};

// The private listener for operators: GET /metrics, /healthz (alive, whatever the broker does) and
// /readyz (200, or 503 while a condition does not hold; JSON that names each). Its own thread,
// which calls the providers.
class AdminServer {
 public:
  struct Providers {
    std::function<std::string()> metrics;  // Prometheus text
    std::function<std::vector<ReadinessCondition>()> readiness;
  };

  AdminServer(std::string interface, std::uint16_t port, Providers providers);
  ~AdminServer();

  // Fails with one sentence that says what to change.
  core::Result<void> Start();
  void Stop();

  std::string address() const;  // with the real port, after Start
  std::uint16_t port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::intake
