#include "intake/refused_events.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

namespace sluice::intake {
namespace {

using StreamIs = RefusedEvents::StreamIs;

SeenEvent Seen(std::string stream, std::int64_t time_ms) {
  SeenEvent seen;
  seen.stream = std::move(stream);
  seen.time_ms = time_ms;
  seen.code = core::ErrorCode::kValidationFailed;
  return seen;
}

core::RefusedOptions Options(int keep, int max_streams) {
  core::RefusedOptions options;
  options.keep = keep;
  options.max_streams = max_streams;
  return options;
}

TEST_CASE("RefusedEvents: the newest of each stream are kept, newest first") {
  RefusedEvents refused(Options(2, 10));
  for (int i = 1; i <= 3; ++i) refused.Add(Seen("a", i), StreamIs::kConfigured);
  refused.Add(Seen("b", 10), StreamIs::kConfigured);
  refused.Add(Seen("", 4), StreamIs::kConfigured);
  const auto of_a = refused.Last("a", 100);
  REQUIRE(of_a.size() == 2);
  CHECK(of_a[0]->time_ms == 3);
  CHECK(of_a[1]->time_ms == 2);
  CHECK(refused.Last("a", 1).size() == 1);
  const auto of_all = refused.Last("", 3);
  REQUIRE(of_all.size() == 3);
  CHECK(of_all[0]->stream == "b");
  CHECK(of_all[1]->time_ms == 4);
  CHECK(refused.LastWithoutStream(9).size() == 1);
  CHECK(refused.Last("nothing", 9).empty());
  CHECK(refused.Streams().size() == 3);
}

TEST_CASE("RefusedEvents: names that clients made up make room before configured ones") {
  RefusedEvents refused(Options(5, 3));
  refused.Add(Seen("configured", 1), StreamIs::kConfigured);
  for (int i = 0; i < 1000; ++i) {
    refused.Add(Seen("made-up-" + std::to_string(i), 2 + i), StreamIs::kMadeUp);
  }
  CHECK(refused.Streams().size() == 3);
  CHECK(refused.Last("configured", 9).size() == 1);
  CHECK(refused.Last("made-up-999", 9).size() == 1);
  CHECK(refused.Last("made-up-0", 9).empty());
}

TEST_CASE("RefusedEvents: many threads add while others look") {
  RefusedEvents refused(Options(3, 4));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&refused, t] {
      for (int i = 0; i < 500; ++i) {
        refused.Add(Seen("s" + std::to_string((t + i) % 6), i), StreamIs::kMadeUp);
        if (i % 50 == 0) static_cast<void>(refused.Last("", 10));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& count : refused.Streams()) CHECK(count.kept <= 3);
}

TEST_CASE("SeenEvent: one line of JSON, whatever is in it") {
  SeenEvent seen = Seen("a\nb", 1593561600007);
  seen.message = "no \"good\"";
  seen.event = {R"({"a":1})", true, 9};
  std::string line;
  AppendSeenEvent(seen, line);
  CHECK(line ==
        R"({"time":"2020-07-01T00:00:00.007Z","outcome":"refused","stream":"a\nb",)"
        R"("code":"validation_failed","message":"no \"good\"","event_bytes":9,"event":{"a":1}})");
  seen.event = {R"({"a":)", false, 9};
  line.clear();
  AppendSeenEvent(seen, line);
  CHECK(line.ends_with(R"("event_begin":"{\"a\":"})"));
}

}  // namespace
}  // namespace sluice::intake
