#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>

#include "intake/event_server.h"
#include "support/http_client.h"
#include "support/recording_handler.h"

namespace sluice::test {

// An events listener on a free port with a RecordingHandler behind it.
struct HttpServer {
  explicit HttpServer(const std::function<void(core::Config&)>& change = {}) {
    config.http.port = 0;
    config.http.io_threads = 1;
    if (change) change(config);
    metrics = std::make_unique<core::Metrics>(config.metrics, "sluice");
    admission = std::make_unique<intake::AdmissionControl>(config.limits);
    rates = std::make_unique<intake::RateLimits>(config.limits, *metrics);
    tls = std::make_unique<intake::TlsStore>(config.http.tls, "events", "tls.", *metrics);
    const auto has_tls = tls->Start();
    REQUIRE_MESSAGE(has_tls.has_value(), (has_tls ? "" : has_tls.error().message));
    server = std::make_unique<intake::EventServer>(
        config, *admission, *metrics, handler.Factory(),
        intake::EventServer::Extras{nullptr, rates.get(), tls.get()});
    const auto started = server->Start();
    REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
  }
  ~HttpServer() {
    server->Stop(std::chrono::steady_clock::now() + std::chrono::seconds(5));
    // Whatever way a test ended its requests, nothing may stay charged.
    CHECK(admission->in_flight() == 0);
    CHECK(admission->bytes() == 0);
    CHECK(admission->connections() == 0);
  }
  std::uint16_t port() const { return server->port(); }

  core::Config config;
  RecordingHandler handler;
  std::unique_ptr<core::Metrics> metrics;
  std::unique_ptr<intake::AdmissionControl> admission;
  std::unique_ptr<intake::RateLimits> rates;
  std::unique_ptr<intake::TlsStore> tls;
  std::unique_ptr<intake::EventServer> server;
};

}  // namespace sluice::test
