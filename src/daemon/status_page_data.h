#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/config.h"
#include "core/metrics.h"
#include "intake/admin_server.h"
#include "intake/refused_events.h"
#include "intake/status_page.h"

namespace sluice::daemon {

// Gathers what the status page shows: a thread of its own samples the metrics every few seconds,
// the rest is asked for when somebody looks.
class StatusPageData {
 public:
  struct Parts {                                                          // all outlive this
    const core::Config& config;                                           // of the start
    std::function<std::shared_ptr<const core::Config>()> current_config;  // any thread
    core::Metrics& metrics;
    const intake::RefusedEvents* refused;                                // null: none are kept
    std::function<std::vector<intake::ReadinessCondition>()> readiness;  // any thread
  };

  explicit StatusPageData(Parts parts);
  ~StatusPageData() { Stop(); }
  StatusPageData(const StatusPageData&) = delete;
  StatusPageData& operator=(const StatusPageData&) = delete;

  // The routes, for AdminServer::AddRoute; they refer to this.
  void AddTo(intake::AdminServer& admin);
  void Start();
  // Ends the thread.
  void Stop();

  // Any thread; does not block.
  intake::StatusData Data() const;

 private:
  void Run();

  const Parts parts_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  intake::StatusHistory history_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::daemon
