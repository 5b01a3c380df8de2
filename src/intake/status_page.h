#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "intake/admin_route.h"
#include "intake/admin_server.h"
#include "intake/refused_events.h"
#include "intake/status_history.h"

namespace sluice::intake {

// A few things that belong together: "Kafka", "Schemas".
struct StatusFacts {
  struct Fact {
    std::string name;
    std::string value;
    bool is_bad = false;
  };
  std::string title;
  std::vector<Fact> facts;
};

// What the status page shows.
struct StatusData {
  std::string service;
  std::string version;
  std::chrono::system_clock::time_point now;
  std::chrono::seconds uptime{0};
  std::vector<ReadinessCondition> conditions;
  StatusTrends trends;
  std::vector<StatusFacts> facts;
  std::vector<RefusedEvents::EventPtr> refused;  // the newest first
  std::string refused_hint;  // shown instead where none are kept: how to have them
};

// The page as HTML. Needs the resources of StatusAssets beside it, and no script to be read.
std::string RenderStatusPage(const StatusData& data);

// "/", which renders what `data` says, and the page's style, script and icon below /-/. `data` is
// called on the listener's I/O thread and does not block.
std::vector<AdminRoute> StatusRoutes(std::function<StatusData()> data);

}  // namespace sluice::intake
