#include "intake/event_watch.h"

#include <algorithm>
#include <utility>

namespace sluice::intake {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Names and messages are the client's too.
constexpr std::size_t kMaxNameBytes = 300;
constexpr std::size_t kMaxMessageBytes = 2000;

std::string Shortened(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return std::string(text.substr(0, max_bytes)) + "…";
}

std::string ServerSentEvent(std::string_view name, const SeenEvent& seen) {
  std::string text = "event: ";
  text += name;
  text += "\ndata: ";
  AppendSeenEvent(seen, text);
  return text += "\n\n";
}

}  // namespace

EventWatch::EventWatch(const EventObservers& observers, const core::Config& config,
                       const core::Clock& clock)
    : observers_(observers), clock_(clock), mask_(config.refused, config.limits.max_depth + 8) {}

bool EventWatch::SomeFilterTakes(std::string_view stream, EventTap::Outcome outcome,
                                 std::uint64_t generation) {
  if (generation != generation_) {
    filters_ = observers_.tap->Filters();
    generation_ = generation;
  }
  return std::any_of(filters_.begin(), filters_.end(),
                     [&](const EventTap::Filter& filter) { return filter.Takes(stream, outcome); });
}

// The mask's view of the event comes first: the rest may quote it.
SeenEvent EventWatch::Describe(const Event& event) {
  SeenEvent seen;
  seen.event = mask_.Show(event.json);
  seen.time_ms = std::chrono::duration_cast<milliseconds>(clock_.Now().time_since_epoch()).count();
  seen.stream = Shortened(event.stream, kMaxNameBytes);
  seen.schema_uri = Shortened(event.schema_uri, kMaxNameBytes);
  seen.request_id = mask_.Redacted(Shortened(event.request_id, kMaxNameBytes));
  return seen;
}

void EventWatch::OnAccepted(const Event& event, core::Disposition outcome) {
  const auto clients =
      observers_.tap->Claim(event.stream, EventTap::Outcome::kAccepted, steady_clock::now());
  if (clients.empty()) return;
  SeenEvent seen = Describe(event);
  seen.outcome = outcome;
  EventTap::Send(clients, ServerSentEvent("accepted", seen));
}

void EventWatch::OnFailure(const Event& event, const EventFailure& failure) {
  EventTap::Streams clients;
  if (IsTapped(event.stream, EventTap::Outcome::kRefused)) {
    clients = observers_.tap->Claim(event.stream, EventTap::Outcome::kRefused, steady_clock::now());
  }
  if (observers_.refused == nullptr && clients.empty()) return;
  SeenEvent seen = Describe(event);
  seen.outcome = DispositionOf(failure);
  seen.code = failure.code;
  seen.message = Shortened(mask_.Redacted(failure.message), kMaxMessageBytes);
  if (!clients.empty()) EventTap::Send(clients, ServerSentEvent("refused", seen));
  if (observers_.refused != nullptr) observers_.refused->Add(std::move(seen), event.stream_is);
}

void EventWatch::OnRefusedRequest(const core::Error& error, std::string_view request_id,
                                  std::uint64_t bytes) {
  if (observers_.refused == nullptr || RemedyOf(error.code) != core::Remedy::kFixRequest) return;
  SeenEvent seen = Describe({{}, {}, request_id, {}});
  seen.event.bytes = bytes;
  seen.outcome = core::Disposition::kRefused;
  seen.code = error.code;
  seen.message = Shortened(error.message, kMaxMessageBytes);
  observers_.refused->Add(std::move(seen), RefusedEvents::StreamIs::kConfigured);
}

void EventWatch::Tick(steady_clock::time_point now) {
  if (observers_.tap != nullptr && observers_.tap->generation() > 0) observers_.tap->Tick(now);
}

}  // namespace sluice::intake
