#pragma once

#include <vector>

#include "intake/admin_route.h"
#include "intake/event_watch.h"

namespace sluice::intake {

// GET /-/refused: the last events that were not accepted, and GET /-/tap: events as they go by, as
// server-sent events. What is switched off answers 404 with the key that switches it on. The
// observers outlive the routes.
std::vector<AdminRoute> ObserveRoutes(const EventObservers& observers);

}  // namespace sluice::intake
