#include "intake/event_tap.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace sluice::intake {
namespace {

using Outcome = EventTap::Outcome;
using Wants = EventTap::Wants;
using std::chrono::seconds;

constexpr EventTap::Clock::time_point kNow{std::chrono::hours(1)};

TEST_CASE("EventTap: clients get the events of their stream, or the refused ones alone") {
  EventTap tap({.max_clients = 3, .max_events_per_second = 10});
  CHECK(tap.generation() == 0);
  const auto all = tap.Open("a", Wants::kAll, kNow);
  const auto refused = tap.Open("a", Wants::kRefused, kNow);
  CHECK(tap.generation() == 2);
  CHECK(tap.Claim("b", Outcome::kAccepted, kNow).empty());
  CHECK(tap.Claim("a", Outcome::kAccepted, kNow) == EventTap::Streams{all});
  CHECK(tap.Claim("a", Outcome::kRefused, kNow) == EventTap::Streams{all, refused});
}

TEST_CASE("EventTap: above the rate events are dropped, and how many is told once a second") {
  EventTap tap({.max_clients = 1, .max_events_per_second = 2});
  const auto stream = tap.Open("a", Wants::kAll, kNow);
  static_cast<void>(stream->Take());
  for (int i = 0; i < 5; ++i)
    EventTap::Send(tap.Claim("a", Outcome::kAccepted, kNow), "data: x\n\n");
  tap.Tick(kNow);
  CHECK(stream->Take().bytes == "data: x\n\ndata: x\n\n");
  tap.Tick(kNow + seconds(1));
  CHECK(stream->Take().bytes ==
        "event: dropped\ndata: {\"dropped\":3,\"max_events_per_second\":2}\n\n");
  tap.Tick(kNow + seconds(2));
  CHECK(stream->Take().bytes.empty());
  CHECK(tap.Claim("a", Outcome::kAccepted, kNow + seconds(2)).size() == 1);
}

TEST_CASE("EventTap: what a slow client does not take is dropped and counted too") {
  EventTap tap({.max_clients = 1, .max_events_per_second = 10000});
  const auto stream = tap.Open("a", Wants::kAll, kNow);
  static_cast<void>(stream->Take());
  const std::string large(AdminStream::kMaxBufferedBytes / 4 + 1, 'x');
  for (int i = 0; i < 5; ++i) EventTap::Send(tap.Claim("a", Outcome::kAccepted, kNow), large);
  static_cast<void>(stream->Take());
  tap.Tick(kNow + seconds(1));
  CHECK(stream->Take().bytes.find("\"dropped\":2,") != std::string::npos);
}

TEST_CASE("EventTap: places are bounded and free again when a client has gone") {
  EventTap tap({.max_clients = 1, .max_events_per_second = 10});
  const auto first = tap.Open("a", Wants::kAll, kNow);
  CHECK(tap.Open("a", Wants::kAll, kNow) == nullptr);
  first->Abandon();
  CHECK(tap.Open("b", Wants::kAll, kNow) != nullptr);
  CHECK(tap.Filters().size() == 1);
}

TEST_CASE("EventTap: a quiet client hears now and then that there is somebody") {
  EventTap tap({.max_clients = 1, .max_events_per_second = 10});
  const auto stream = tap.Open("a", Wants::kAll, kNow);
  static_cast<void>(stream->Take());
  tap.Tick(kNow + seconds(6));
  CHECK(stream->Take().bytes == ": still here\n\n");
  stream->Abandon();
  tap.Tick(kNow + seconds(12));
  CHECK(tap.Filters().empty());
}

}  // namespace
}  // namespace sluice::intake
