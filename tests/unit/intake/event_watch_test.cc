#include "intake/event_watch.h"

#include <doctest/doctest.h>

#include <string>

namespace sluice::intake {
namespace {

struct World {
  World() {
    config.refused.keep = 5;
    config.refused.mask = {"secret"};
  }
  core::Config config;
  core::SystemClock clock;
  RefusedEvents refused{[] {
    core::RefusedOptions options;
    options.keep = 5;
    return options;
  }()};
  EventTap tap{{.max_clients = 2, .max_events_per_second = 10}};
};

EventFailure Invalid(std::string message) {
  EventFailure failure;
  failure.code = core::ErrorCode::kValidationFailed;
  failure.message = std::move(message);
  return failure;
}

TEST_CASE("EventWatch: a failure is kept masked, its message too") {
  World world;
  EventWatch watch({&world.refused, nullptr}, world.config, world.clock);
  watch.OnFailure({"s", "/s/1.0.0", "r-1", R"({"secret":"M4RK-1","a":1})"},
                  Invalid("M4RK-1 is bad"));
  const auto kept = world.refused.Last("s", 9);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0]->event.text == R"({"secret":"***","a":1})");
  CHECK(kept[0]->message == "*** is bad");
  CHECK(kept[0]->request_id == "r-1");
  CHECK(kept[0]->outcome == core::Disposition::kRefused);
}

TEST_CASE("EventWatch: names, messages and whole requests are kept within bounds") {
  World world;
  EventWatch watch({&world.refused, nullptr}, world.config, world.clock);
  watch.OnFailure({std::string(100000, 's'), std::string(100000, 'u'), "r", "{"},
                  Invalid(std::string(100000, 'm')));
  watch.OnRefusedRequest({core::ErrorCode::kMalformedBody, "unexpected end at byte 7"}, "r-2", 7);
  watch.OnRefusedRequest({core::ErrorCode::kOverloaded, "try later"}, "r-3", 7);
  const auto kept = world.refused.Last("", 9);
  REQUIRE(kept.size() == 2);
  const auto whole = world.refused.LastWithoutStream(9);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0]->event.bytes == 7);
  CHECK(whole[0]->event.text.empty());
  for (const auto& seen : kept) {
    CHECK(seen->stream.size() + seen->schema_uri.size() + seen->message.size() < 3000);
  }
}

TEST_CASE("EventWatch: taps see the events of their stream, accepted and not") {
  World world;
  EventWatch watch({nullptr, &world.tap}, world.config, world.clock);
  CHECK(!watch.WantsAccepted("s"));
  const auto stream = world.tap.Open("s", EventTap::Wants::kAll, EventTap::Clock::now());
  CHECK(watch.WantsAccepted("s"));
  CHECK(!watch.WantsAccepted("t"));
  static_cast<void>(stream->Take());
  watch.OnAccepted({"s", "/s/1.0.0", "r", R"({"secret":"M4RK"})"},
                   core::Disposition::kAcknowledged);
  watch.OnFailure({"s", "/s/1.0.0", "r", R"({"secret":"M4RK"})"}, Invalid("bad"));
  watch.OnFailure({"t", "/s/1.0.0", "r", R"({"secret":"M4RK"})"}, Invalid("bad"));
  const std::string text = stream->Take().bytes;
  CHECK(text.starts_with("event: accepted\ndata: {\"time\":"));
  CHECK(text.find("\n\nevent: refused\ndata: {") != std::string::npos);
  CHECK(text.find("M4RK") == std::string::npos);
  CHECK(text.find("\"stream\":\"t\"") == std::string::npos);
  stream->Abandon();
  world.tap.Tick(EventTap::Clock::now() + std::chrono::seconds(6));
  CHECK(!watch.WantsAccepted("s"));
}

TEST_CASE("EventWatch: without observers it does nothing") {
  World world;
  EventWatch watch({}, world.config, world.clock);
  CHECK(!watch.WantsAccepted("s"));
  watch.OnFailure({"s", "", "r", "{}"}, Invalid("bad"));
  watch.OnRefusedRequest({core::ErrorCode::kMalformedBody, ""}, "r", 1);
  watch.Tick(std::chrono::steady_clock::now());
}

}  // namespace
}  // namespace sluice::intake
