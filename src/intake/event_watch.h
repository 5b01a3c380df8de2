#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/config.h"
#include "intake/event_mask.h"
#include "intake/event_tap.h"
#include "intake/refused_events.h"
#include "intake/reply.h"

namespace sluice::intake {

// What the pipelines of all threads tell of their events to operators; null: switched off.
struct EventObservers {
  RefusedEvents* refused = nullptr;
  EventTap* tap = nullptr;
};

// Tells operators of the events of one I/O thread: masked, and only what somebody keeps or watches.
// An event that is accepted costs one relaxed load while nobody taps. One per thread.
class EventWatch {
 public:
  // What an event is known by.
  struct Event {
    std::string_view stream;
    std::string_view schema_uri;
    std::string_view request_id;
    std::string_view json;
    RefusedEvents::StreamIs stream_is = RefusedEvents::StreamIs::kConfigured;
  };

  EventWatch(const EventObservers& observers, const core::Config& config, const core::Clock& clock);

  // Whether somebody wants to see an accepted event of that stream.
  bool WantsAccepted(std::string_view stream) {
    return IsTapped(stream, EventTap::Outcome::kAccepted);
  }

  void OnAccepted(const Event& event, core::Disposition outcome);
  void OnFailure(const Event& event, const EventFailure& failure);
  // A request that was refused as a whole, by its sender's fault; `bytes` of its body.
  void OnRefusedRequest(const core::Error& error, std::string_view request_id, std::uint64_t bytes);

  // A few times a second.
  void Tick(std::chrono::steady_clock::time_point now);

 private:
  bool IsTapped(std::string_view stream, EventTap::Outcome outcome) {
    if (observers_.tap == nullptr) return false;
    const std::uint64_t generation = observers_.tap->generation();
    if (generation == generation_ && filters_.empty()) return false;
    return SomeFilterTakes(stream, outcome, generation);
  }
  bool SomeFilterTakes(std::string_view stream, EventTap::Outcome outcome,
                       std::uint64_t generation);
  SeenEvent Describe(const Event& event);

  const EventObservers observers_;
  const core::Clock& clock_;
  EventMask mask_;
  std::uint64_t generation_ = 0;  // of filters_
  std::vector<EventTap::Filter> filters_;
};

}  // namespace sluice::intake
