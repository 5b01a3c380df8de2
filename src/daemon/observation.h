#pragma once

#include <memory>

#include "core/config.h"
#include "daemon/log_level.h"
#include "intake/admin_server.h"
#include "intake/event_tap.h"
#include "intake/event_watch.h"
#include "intake/refused_events.h"

namespace sluice::daemon {

// What operators see of single events: those that were not accepted, and those that go by; and how
// much of the log they see. Made before the pipelines, which tell it.
class Observation {
 public:
  explicit Observation(const core::Config& config);

  // For EventPipeline::Parts. Valid as long as this.
  intake::EventObservers observers() const { return {refused_.get(), tap_.get()}; }

  // The routes on the admin listener. Before its Start.
  void AddTo(intake::AdminServer& admin);

  // About once a second.
  void Tick() { log_level_.Tick(std::chrono::steady_clock::now()); }

 private:
  LogLevelControl log_level_;
  std::unique_ptr<intake::RefusedEvents> refused_;  // null: off
  std::unique_ptr<intake::EventTap> tap_;           // the same
};

}  // namespace sluice::daemon
