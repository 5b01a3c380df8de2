#include "intake/status_page.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/metrics.h"
#include "intake/status_chart.h"
#include "intake/status_html.h"

namespace sluice::intake {
namespace {

using core::Disposition;
using std::chrono::seconds;

constexpr StatusHistory::Clock::time_point kStart{std::chrono::hours(10)};

// What a daemon counts, and a history that samples it.
struct World {
  core::Metrics metrics{{}, "test"};
  StatusHistory history{"v1/events"};
  StatusHistory::Clock::time_point now = kStart;

  void Count(const std::string& stream, Disposition how, int n) {
    metrics.EventsReceived(static_cast<std::uint64_t>(n));
    metrics.EventsEnded(how, static_cast<std::uint64_t>(n));
    metrics.Route(stream, "/s/1.0.0", true)
        .events[static_cast<std::size_t>(how)]
        ->Increment(static_cast<double>(n));
  }
  StatusTrends Step() {
    history.Add(metrics.Collect(), now);
    now += StatusHistory::kStep;
    return history.Trends();
  }
};

TEST_CASE("StatusHistory: a step's rate is what was counted since the last one") {
  World world;
  world.Count("a", Disposition::kAcknowledged, 1000);  // before anybody looked
  CHECK(world.Step().rates.empty());
  world.Count("a", Disposition::kAcknowledged, 10);
  world.Count("a", Disposition::kHastilyAccepted, 5);
  world.Count("b", Disposition::kRefused, 20);
  world.Count("b", Disposition::kFailed, 50);
  const StatusTrends trends = world.Step();
  REQUIRE(trends.rates.size() == 1);
  CHECK(trends.rates[0].accepted == 3.0f);
  CHECK(trends.rates[0].refused == 4.0f);
  CHECK(trends.rates[0].failed == 10.0f);
  REQUIRE(trends.streams.size() == 2);
  CHECK(trends.streams[0].name == "b");
  CHECK(trends.streams[0].rates[0].failed == 10.0f);
  CHECK(trends.streams[1].rates[0].accepted == 3.0f);
  CHECK(trends.ValueOf("sluice_events_received_total") == 1085);
  CHECK(trends.ValueOf("no_such_metric") == 0);
}

TEST_CASE(
    "StatusHistory: series are as long as the time that is shown, of a bounded number of streams") {
  World world;
  world.Step();
  for (std::size_t i = 0; i < StatusHistory::kSteps + 20; ++i) {
    world.Count("busy", Disposition::kAcknowledged, 1);
    if (i % 2 == 0) world.Count("s" + std::to_string(i), Disposition::kAcknowledged, 1);
    world.Count("t" + std::to_string(i), Disposition::kAcknowledged, 1);
    world.Step();
  }
  const StatusTrends trends = world.history.Trends();
  CHECK(trends.rates.size() == StatusHistory::kSteps);
  CHECK(trends.streams.size() <= StatusHistory::kMaxStreams);
  CHECK(trends.streams[0].name == "busy");
  for (const auto& stream : trends.streams) CHECK(stream.rates.size() == trends.rates.size());
}

TEST_CASE("StatusHistory: latencies are of requests about events, of the step alone") {
  World world;
  world.Step();
  CHECK(world.Step().p99_ms.back() < 0);
  for (int i = 0; i < 100; ++i) world.metrics.CountRequest("v1/events", "POST", 201, 0.002);
  for (int i = 0; i < 100; ++i) world.metrics.CountRequest("_info", "GET", 200, 9);
  const float p99 = world.Step().p99_ms.back();
  CHECK(p99 > 1);
  CHECK(p99 <= 2.5f);
  CHECK(world.Step().p99_ms.back() < 0);
}

TEST_CASE("StatusChart: the newest value is at the right edge, outcomes lie on each other") {
  const std::vector<OutcomeRates> rates = {{1, 0, 0}, {1, 1, 2}};
  std::string svg;
  AppendOutcomeChart(svg, {rates, 3, 3, 4, "a \"label\"", "chart"});
  CHECK(svg.find("aria-label=\"a &quot;label&quot;\"") != std::string::npos);
  CHECK(svg.find("<polygon class=\"failed\" points=\"300,100 300,75.2 600,1 600,100\"/>") !=
        std::string::npos);
  CHECK(svg.find("<polygon class=\"accepted\" points=\"300,100 300,75.2 600,75.2 600,100\"/>") !=
        std::string::npos);
  CHECK(svg.find("<polygon class=\"failed\"") < svg.find("<polygon class=\"accepted\""));
  CHECK(svg.find("style=") == std::string::npos);
}

TEST_CASE("StatusChart: gaps break a line, nothing draws nothing") {
  const std::vector<float> values = {1, -1, 1, 2};
  std::string svg;
  AppendLineChart(svg, {values, 4, 4, 2, "x", "chart"});
  CHECK(svg.find("points=\"0,50.5\"") != std::string::npos);
  CHECK(svg.find("points=\"400,50.5 600,1\"") != std::string::npos);
  svg.clear();
  AppendLineChart(svg, {{}, 4, 4, 2, "x", "chart"});
  CHECK(svg.find("polyline") == std::string::npos);
  CHECK(RoundTop(0) == 1);
  CHECK(RoundTop(21) == 30);
  CHECK(RoundTop(0.013) == doctest::Approx(0.015));
  CHECK(RoundTop(100) == 100);
}

TEST_CASE("StatusHtml: texts and numbers as people read them") {
  std::string html;
  AppendHtml(html, "<a href=\"x\">'&\x01\x7f</a>");
  CHECK(html == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\xEF\xBF\xBD\xEF\xBF\xBD&lt;/a&gt;");
  CHECK(CountText(1234567) == "1,234,567");
  CHECK(CountText(999) == "999");
  CHECK(RateText(0) == "0");
  CHECK(RateText(0.02) == "0.020");
  CHECK(RateText(12.34) == "12.3");
  CHECK(RateText(2500) == "2,500");
  CHECK(BytesText(1536) == "1.5 kB");
  CHECK(MillisecondsText(2.5) == "2.50 ms");
  CHECK(MillisecondsText(1500) == "1.5 s");
  CHECK(DurationText(seconds(59)) == "59 s");
  CHECK(DurationText(seconds(3600 * 27)) == "1 d 3 h");
}

StatusData Hostile() {
  const std::string evil = "</pre><script>alert('x')</script>\"";
  StatusData data;
  data.service = data.version = evil;
  data.conditions = {{evil, false, evil}};
  data.trends.steps = 3;
  data.trends.step = seconds(5);
  data.trends.streams = {{evil, {{1, 1, 1}}}};
  data.facts = {{evil, {{evil, evil, true}}}};
  SeenEvent seen;
  seen.stream = seen.schema_uri = seen.request_id = seen.message = seen.event.text = evil;
  data.refused = {std::make_shared<const SeenEvent>(seen)};
  return data;
}

TEST_CASE("StatusPage: no text becomes markup, wherever it comes from") {
  const std::string page = RenderStatusPage(Hostile());
  CHECK(page.find("<script>") == std::string::npos);
  CHECK(page.find("alert('x')") == std::string::npos);
  CHECK(page.find("</script>\"") == std::string::npos);
  CHECK(page.find("&lt;/pre&gt;&lt;script&gt;alert(&#39;x&#39;)") != std::string::npos);
  CHECK(page.find("style=") == std::string::npos);  // its policy would refuse it
  CHECK(page.find("Not ready") != std::string::npos);
}

TEST_CASE("StatusPage: empty is said in words") {
  StatusData data;
  data.trends.steps = StatusHistory::kSteps;
  data.refused_hint = "set refused.keep";
  const std::string page = RenderStatusPage(data);
  CHECK(page.find("No event has come yet.") != std::string::npos);
  CHECK(page.find("set refused.keep") != std::string::npos);
  CHECK(page.find("Taking events") != std::string::npos);
  data.refused_hint.clear();
  CHECK(RenderStatusPage(data).find("None since the start.") != std::string::npos);
}

}  // namespace
}  // namespace sluice::intake
