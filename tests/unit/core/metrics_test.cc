#include "core/metrics.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/version.h"

namespace sluice::core {
namespace {

// Every sample of a scrape: "name{labels}" to value.
std::map<std::string, double> Samples(Metrics& metrics) {
  std::map<std::string, double> samples;
  std::istringstream text(metrics.Scrape());
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.rfind(' ');
    samples[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  return samples;
}

TEST_CASE("Metrics: a route counts under the original's names and its own") {
  Metrics metrics({}, "svc");
  RouteCounters& route = metrics.Route("s1", "/a/1.0.0", true);
  REQUIRE(route.events_produced != nullptr);
  route.events_produced->Increment(3);
  route.events[static_cast<int>(Disposition::kAcknowledged)]->Increment(2);
  CHECK(&metrics.Route("s1", "/a/1.0.0", true) == &route);
  const auto samples = Samples(metrics);
  CHECK(
      samples.at(
          R"(eventgate_events_produced_total{service="svc",schema_uri="/a/1.0.0",stream="s1"})") ==
      3);
  CHECK(samples.at(R"(sluice_events_total{outcome="acknowledged",stream="s1"})") == 2);
  CHECK(samples.at("sluice_build_info{version=\"" + std::string(kVersion) + "\"}") == 1);
}

TEST_CASE("Metrics: replaced UTF-8 is counted") {
  Metrics metrics({}, "svc");
  metrics.CountReplacedUtf8(0);
  metrics.CountReplacedUtf8(4);
  CHECK(Samples(metrics).at("sluice_utf8_replaced_total") == 4);
}

TEST_CASE("Metrics: unknown pairs and those above the bound share _other") {
  MetricOptions options;
  options.max_label_values = 2;
  Metrics metrics(options, "svc");
  RouteCounters& a = metrics.Route("a", "/a", true);
  RouteCounters& b = metrics.Route("b", "/b", true);
  RouteCounters& c = metrics.Route("c", "/c", true);
  RouteCounters& evil = metrics.Route("evil", "/evil", false);
  CHECK(&a != &b);
  CHECK(&c != &a);
  CHECK(&c == &evil);
  CHECK(&metrics.Route("a", "/a", true) == &a);
  CHECK(a.stream == "a");
  CHECK(a.schema_uri == "/a");
  CHECK(evil.stream == "_other");
  metrics.CountFailure("evil", "/evil", false, ErrorCode::kSchemaNotFound);
  const std::string text = metrics.Scrape();
  CHECK(text.find("evil") == std::string::npos);
  CHECK(text.find(R"(schema_uri="_other",stream="_other")") != std::string::npos);
}

TEST_CASE("Metrics: a failure is counted by reason and by the original's error type") {
  Metrics metrics({}, "svc");
  metrics.CountFailure("s", "/a", true, ErrorCode::kValidationFailed);
  metrics.CountFailure("s", "/a", true, ErrorCode::kStreamSchemaMismatch);
  metrics.CountFailure("", "", false, ErrorCode::kMalformedBody);
  const auto samples = Samples(metrics);
  CHECK(samples.at(R"(sluice_event_failures_total{reason="validation_failed"})") == 1);
  CHECK(samples.at(R"(sluice_event_failures_total{reason="malformed_body"})") == 1);
  CHECK(samples.at(R"(sluice_event_failures_total{reason="internal"})") == 0);
  const auto errors = [&](const std::string& type) {
    const auto found =
        samples.find(R"(eventgate_validation_errors_total{service="svc",error_type=")" + type +
                     R"(",schema_uri="/a",stream="s"})");
    return found == samples.end() ? 0 : found->second;
  };
  CHECK(errors("ValidationError") == 1);
  CHECK(errors("UnauthorizedSchemaForStreamError") == 1);
  CHECK(metrics.Scrape().find("error_type=\"malformed_body\"") == std::string::npos);
}

TEST_CASE("Metrics: requests are counted and timed, in the original's buckets too") {
  Metrics metrics({}, "svc");
  metrics.CountRequest("v1/events", "POST", 201, 0.004);
  metrics.CountRequest("v1/events", "POST", 201, 0.2);
  metrics.CountRequest("v1/events", "POST", 201, 20);
  metrics.CountRequest("v1/events", "BREW", 405, 0.01);
  const auto samples = Samples(metrics);
  CHECK(samples.at(R"(sluice_http_requests_total{path="v1/events",method="POST",status="201"})") ==
        3);
  CHECK(samples.at(
            R"(sluice_http_requests_total{path="v1/events",method="_other",status="405"})") == 1);
  CHECK(samples.at(R"(sluice_http_request_duration_seconds_count{path="v1/events"})") == 4);
  CHECK(samples.at(R"(sluice_http_request_duration_seconds_bucket{path="v1/events",le="0.005"})") ==
        1);
  const std::string express =
      R"(express_router_request_duration_seconds_bucket{path="v1/events",method="POST",status="201",le=)";
  CHECK(samples.at(express + R"("0.01"})") == 1);
  CHECK(samples.at(express + R"("0.1"})") == 1);
  CHECK(samples.at(express + R"("0.3"})") == 2);
  CHECK(samples.at(express + R"("10"})") == 2);
  CHECK(samples.at(express + R"("+Inf"})") == 3);
  const double sum = samples.at(
      R"(express_router_request_duration_seconds_sum{path="v1/events",method="POST",status="201"})");
  CHECK(sum == doctest::Approx(20.204));
}

TEST_CASE("Metrics: more kinds of request than there is room for are counted together") {
  Metrics metrics({}, "svc");
  for (int status = 0; status < 400; ++status) metrics.CountRequest("p", "GET", 1000 + status, 0.1);
  const auto samples = Samples(metrics);
  double sum = 0;
  for (const auto& [name, value] : samples) {
    if (name.rfind("sluice_http_requests_total", 0) == 0) sum += value;
  }
  CHECK(sum == 400);
  CHECK(samples.at(R"(sluice_http_requests_total{path="_other",method="_other",status="0"})") > 0);
}

TEST_CASE("Metrics: eventgate_names false drops the original's names only") {
  MetricOptions options;
  options.eventgate_names = false;
  Metrics metrics(options, "svc");
  CHECK(metrics.Route("s", "/a", true).events_produced == nullptr);
  metrics.CountFailure("s", "/a", true, ErrorCode::kValidationFailed);
  metrics.CountRequest("root", "GET", 404, 0.1);
  const std::string text = metrics.Scrape();
  CHECK(text.find("eventgate_") == std::string::npos);
  CHECK(text.find("express_") == std::string::npos);
  CHECK(text.find("sluice_http_requests_total") != std::string::npos);
}

TEST_CASE("Metrics: the process tells its memory, files and start") {
  Metrics metrics({}, "svc");
  const auto samples = Samples(metrics);
  CHECK(samples.at("process_resident_memory_bytes") > 1e6);
  CHECK(samples.at("process_open_fds") >= 3);
  CHECK(samples.at("process_start_time_seconds") > 1.5e9);
  CHECK(samples.at("process_threads") >= 1);
}

double EndedEvents(const std::map<std::string, double>& samples) {
  return samples.at("sluice_events_acknowledged_total") +
         samples.at("sluice_events_hastily_accepted_total") +
         samples.at("sluice_events_refused_total") + samples.at("sluice_events_failed_total");
}

TEST_CASE("Metrics: conservation holds at every scrape while threads count") {
  Metrics metrics({}, "svc");
  std::atomic<bool> go_on{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (go_on.load(std::memory_order_relaxed)) {
        metrics.EventsReceived(2);
        metrics.RecordsHanded(1);
        metrics.CountRequest("v1/events", "POST", 201, 0.001);
        metrics.RecordsDelivered(1);
        metrics.EventsEnded(static_cast<Disposition>(t), 2);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const auto samples = Samples(metrics);
    const double in_flight = samples.at("sluice_events_in_flight");
    CHECK(in_flight >= 0);
    CHECK(in_flight < 1e15);  // no wrap below zero
    CHECK(samples.at("sluice_events_received_total") == EndedEvents(samples) + in_flight);
    CHECK(samples.at("sluice_records_handed_total") ==
          samples.at("sluice_records_delivered_total") + samples.at("sluice_records_failed_total") +
              samples.at("sluice_records_spooled_total") + samples.at("sluice_records_in_flight"));
    // How many threads pass between the two reads is theirs to say; below zero it may never be.
    CHECK(metrics.events_in_flight() < std::uint64_t{1} << 62);
  }
  go_on = false;
  for (std::thread& thread : threads) thread.join();
  CHECK(metrics.events_in_flight() == 0);
  CHECK(metrics.records_in_flight() == 0);
  const auto samples = Samples(metrics);
  CHECK(2 * samples.at(
                R"(sluice_http_requests_total{path="v1/events",method="POST",status="201"})") ==
        samples.at("sluice_events_received_total"));
}

}  // namespace
}  // namespace sluice::core
