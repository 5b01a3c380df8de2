#include "daemon/observation.h"

#include <utility>

#include "intake/admin_observe.h"

namespace sluice::daemon {

Observation::Observation(const core::Config& config) {
  if (config.refused.keep > 0) {
    refused_ = std::make_unique<intake::RefusedEvents>(config.refused);
  }
  if (config.tap.max_clients > 0) tap_ = std::make_unique<intake::EventTap>(config.tap);
}

void Observation::AddTo(intake::AdminServer& admin) {
  for (intake::AdminRoute& route : intake::ObserveRoutes(observers())) {
    admin.AddRoute(std::move(route));
  }
  log_level_.AddTo(admin);
}

}  // namespace sluice::daemon
