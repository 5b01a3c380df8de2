#include "daemon/daemon.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/clock.h"
#include "core/log.h"
#include "core/metrics.h"
#include "daemon/config_docs.h"
#include "daemon/declared_streams.h"
#include "daemon/inherited_sockets.h"
#include "daemon/liveness.h"
#include "daemon/observation.h"
#include "daemon/reload_thread.h"
#include "daemon/reloader.h"
#include "daemon/service_manager.h"
#include "daemon/signals.h"
#include "daemon/status_line.h"
#include "daemon/status_page_data.h"
#include "intake/admin_server.h"
#include "intake/admission.h"
#include "intake/event_pipeline.h"
#include "intake/event_server.h"
#include "intake/rate_limits.h"
#include "produce/producer.h"
#include "registry/schema_registry.h"
#include "streams/stream_registry.h"
#include "streams/stream_updater.h"

namespace sluice::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kGood = 0;
constexpr int kCannotStart = 2;
constexpr int kLoss = 3;
constexpr std::chrono::seconds kBetweenStatus{5};
// How long a loop may not come round before that is told, where systemd has no opinion.
constexpr milliseconds kLoopPatience{10000};
// How long a connection that idles is kept for the next request on it, once a successor has the
// listening sockets: that request's answer tells its client to connect anew.
constexpr milliseconds kKeepAliveGrace{2000};
// And how long a request that is half here by then may take.
constexpr milliseconds kHalfRequestGrace{2000};

// The parts of the process, each made once, in the order in which they need each other.
class Daemon {
 public:
  Daemon(const ConfigSource& source, const core::Config& config)
      : config_(config), reloader_(source, config, metrics_) {}

  int Run() {
    if (const auto started = Start(); !started.has_value()) {
      std::fprintf(stderr, "sluice: %s\n", started.error().message.c_str());
      return kCannotStart;
    }
    AnnounceReady();
    Serve();
    return Stop();
  }

 private:
  core::Result<void> Start();
  void AddReloadingParts();
  void AddReloadRoutes();
  void WarnOfErrorStream(const core::Config& config) const;
  ReloadReport Reload();
  void AddGauges();
  void WatchLoops();
  void AnnounceReady();
  void Serve();
  void CheckLoops();
  void TellStatus();
  std::vector<intake::ReadinessCondition> Readiness();
  void AwaitIdle(steady_clock::time_point until);
  void LeaveToSuccessor(steady_clock::time_point deadline);
  int Stop();

  const core::Config& config_;  // of the start: of keys that do not reload
  std::atomic<bool> serving_{false};
  std::atomic<bool> stopping_{false};
  Signals signals_;  // first: its mask is for all threads
  core::SystemClock clock_;
  core::Metrics metrics_{config_.metrics, config_.service_name};
  intake::AdmissionControl admission_{config_.limits};
  intake::RateLimits rates_{config_.limits, metrics_};
  intake::TlsStore tls_{config_.http.tls, "events", "tls.", metrics_};
  intake::TlsStore admin_tls_{config_.http.admin_tls, "admin", "admin.tls.", metrics_};
  streams::StreamRegistry streams_{config_.streams};
  streams::StreamUpdater updater_{{config_.streams, streams_, metrics_, clock_,
                                   config_.output.data_dir + "/stream-config.json",
                                   config_.user_agent}};
  registry::SchemaRegistry schemas_{config_.schemas, metrics_};
  Observation observation_{config_};
  Reloader reloader_;
  std::unique_ptr<DeclaredStreams> declared_;  // null where nobody may declare any
  std::unique_ptr<produce::Producer> producer_;
  std::unique_ptr<intake::EventServer> events_;
  std::unique_ptr<StatusPageData> status_;  // asks all of the above, and admin_ asks it
  std::unique_ptr<intake::AdminServer> admin_;
  InheritedSockets inherited_;  // given away once serving begins, but for whether there were any
  Liveness liveness_;
  ReloadThread reload_thread_{[this] { Reload(); }};
  StatusLine status_line_{metrics_, steady_clock::now()};
  steady_clock::time_point status_line_due_ = steady_clock::now() + kBetweenStatus;
};

// Each connection is a file: as many as the system lets this process have.
void RaiseFileLimit(int connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto wanted = static_cast<rlim_t>(connections) + 512;  // and topic files, brokers, timers
  if (limit.rlim_cur < wanted) {
    core::Log(core::LogLevel::kWarn, "file_limit",
              "The limit on open files is below limits.max_connections: raise LimitNOFILE, or "
              "lower the key.",
              {{"open_files", static_cast<std::int64_t>(limit.rlim_cur)},
               {"wanted", static_cast<std::int64_t>(wanted)}});
  }
}

void Daemon::WarnOfErrorStream(const core::Config& config) const {
  const std::string& error_stream = config.enrichment.error_stream;
  if (!streams_.configured() || error_stream.empty() ||
      streams_.Current()->Find(error_stream) != nullptr)
    return;
  core::Log(core::LogLevel::kWarn, "error_stream_not_configured",
            "The error_stream is not in the stream configuration, so no error event can be "
            "produced: add it there.",
            {{"error_stream", error_stream}});
}

core::Result<void> Daemon::Start() {
  auto inherited = TakeInheritedSockets();
  if (!inherited.has_value()) return inherited.error();
  inherited_ = *std::move(inherited);
  RaiseFileLimit(config_.limits.max_connections + config_.http.admin_max_connections);
  for (intake::TlsStore* tls : {&tls_, &admin_tls_}) {
    if (auto started = tls->Start(); !started.has_value()) return started;
  }
  // Fatal if it cannot be read and there is no copy: without it nothing may enter.
  if (auto started = updater_.Start(); !started.has_value()) return started;
  WarnOfErrorStream(config_);
  if (auto started = schemas_.Start(); !started.has_value()) return started;
  if (!config_.declared_streams.tokens_file.empty()) {
    declared_ = std::make_unique<DeclaredStreams>(
        DeclaredStreams::Parts{config_, clock_, streams_, schemas_});
    if (auto started = declared_->Start(); !started.has_value()) return started;
  }
  auto producer = produce::MakeProducer(config_.output, config_.user_agent, metrics_);
  if (!producer.has_value()) return producer.error();
  producer_ = std::move(*producer);
  if (auto started = producer_->Start(); !started.has_value()) return started;
  events_ = std::make_unique<intake::EventServer>(
      config_, admission_, metrics_,
      [this](intake::PostFunction post) -> std::unique_ptr<intake::IngestHandler> {
        return std::make_unique<intake::EventPipeline>(
            intake::EventPipeline::Parts{config_, schemas_, streams_, *producer_, metrics_, clock_,
                                         std::move(post), observation_.observers(), &rates_});
      },
      intake::EventServer::Extras{&streams_, &rates_, &tls_});
  admin_ = std::make_unique<intake::AdminServer>(
      intake::AdminServerOptions{config_.http.admin_interface, config_.http.admin_port,
                                 config_.http.admin_max_connections, &admin_tls_,
                                 config_.http.admin_unix_socket},
      intake::AdminServer::Providers{[this] { return metrics_.Scrape(); },
                                     [this] { return Readiness(); }});
  if (declared_) declared_->AddTo(*admin_);
  AddReloadRoutes();
  AddReloadingParts();
  observation_.AddTo(*admin_);
  status_ = std::make_unique<StatusPageData>(
      StatusPageData::Parts{config_, [this] { return reloader_.current(); }, metrics_,
                            observation_.observers().refused, [this] { return Readiness(); }});
  status_->AddTo(*admin_);
  AddGauges();
  status_->Start();
  const auto admin_socket =
      inherited_.admin.empty() ? std::nullopt : std::optional(inherited_.admin.front());
  if (auto started = admin_->Start(admin_socket); !started.has_value()) return started;
  if (auto started = events_->Start(inherited_.events); !started.has_value()) return started;
  WatchLoops();
  reload_thread_.Start();
  serving_ = true;
  return {};
}

// In the order in which a new configuration takes effect: the streams before what reads them.
void Daemon::AddReloadingParts() {
  using Result = core::Result<Reloader::Apply>;
  for (intake::TlsStore* tls : {&tls_, &admin_tls_}) {  // their files, whatever else has changed
    reloader_.AddPart([tls](const ConfigChange&) -> Result {
      if (auto good = tls->Check(); !good.has_value()) return good.error();
      return Reloader::Apply([tls] { static_cast<void>(tls->Reload()); });
    });
  }
  reloader_.AddPart([this](const ConfigChange& change) -> Result {
    if (change.Touches("stream_config")) return updater_.Prepare(change.config->streams);
    return Reloader::Apply([this] { updater_.Refresh(); });
  });
  reloader_.AddPart([this](const ConfigChange& change) -> Result {
    auto parts = events_->Prepare(change.config);
    if (!parts.has_value()) return parts.error();
    return Reloader::Apply([this, parts = *std::move(parts)] {
      if (events_->Use(parts)) return;
      core::Log(core::LogLevel::kError, "reload_late",
                "An I/O thread has not taken the new configuration yet: it is blocked.");
    });
  });
  reloader_.AddPart([this](const ConfigChange& change) -> Result {
    return Reloader::Apply([this, config = change.config] {
      schemas_.Use(config->schemas);
      rates_.Configure(config->limits);
      core::ConfigureLog(config->log);
      WarnOfErrorStream(*config);
    });
  });
}

void Daemon::AddReloadRoutes() {
  intake::AdminRoute config;
  config.methods = {intake::AdminMethod::kGet};
  config.path = "/-/config";
  config.handler = intake::Answering([this](const intake::AdminRequest&) {
    intake::AdminReply reply;
    reply.content_type = "text/yaml; charset=utf-8";
    reply.body = EffectiveConfig(*reloader_.current());
    return reply;
  });
  admin_->AddRoute(std::move(config));
  intake::AdminRoute reload;
  reload.methods = {intake::AdminMethod::kPost};
  reload.path = "/-/reload";
  reload.handler = intake::Answering([this](const intake::AdminRequest& request) {
    if (intake::IsFromOtherSite(request))
      return intake::ProblemReply(403, "A page of another site may not have it reloaded.");
    const ReloadReport report = Reload();
    intake::AdminReply reply;
    reply.status = report.applied ? 200 : 409;
    reply.body = report.Json();
    return reply;
  });
  admin_->AddRoute(std::move(reload));
}

ReloadReport Daemon::Reload() {
  if (!serving_ || stopping_) {
    ReloadReport report;
    report.problems = {"The process is starting or stopping: its parts are not all there."};
    return report;
  }
  service_manager::Reloading();
  ReloadReport report = reloader_.Reload();
  if (!stopping_) service_manager::Ready(report.Summary());
  return report;
}

void Daemon::AddGauges() {
  metrics_.AddGauge(
      "sluice_ready", "1 while /readyz says that events can be taken, else 0", [this] {
        const auto conditions = Readiness();
        return std::all_of(conditions.begin(), conditions.end(),
                           [](const intake::ReadinessCondition& one) { return one.ok; })
                   ? 1.0
                   : 0.0;
      });
  metrics_.AddGauge("sluice_requests_in_flight", "Requests with a permit",
                    [this] { return static_cast<double>(admission_.in_flight()); });
  metrics_.AddGauge("sluice_memory_charged_bytes", "Bytes charged against limits.memory_bytes",
                    [this] { return static_cast<double>(admission_.bytes()); });
  metrics_.AddGauge("sluice_connections", "Connections of the events listener",
                    [this] { return static_cast<double>(admission_.connections()); });
  metrics_.AddGauge("sluice_stream_config_generation",
                    "How many snapshots of stream configuration there were",
                    [this] { return static_cast<double>(streams_.generation()); });
  if (declared_) declared_->AddGauges(metrics_);
  metrics_.AddGauge("sluice_spool_state", "0 off, 1 on, 2 full, 3 broken",
                    [this] { return static_cast<double>(producer_->spool_state()); });
  metrics_.AddGauge("sluice_spool_records", "Spooled records that Kafka has not confirmed yet",
                    [this] { return static_cast<double>(producer_->spool_waiting()); });
  metrics_.AddGauge("sluice_producer_queued_bytes", "Bytes of records that wait to be delivered",
                    [this] { return static_cast<double>(producer_->queued_bytes()); });
}

void Daemon::AnnounceReady() {
  const std::string addresses = "events=" + events_->address() + " admin=" + admin_->address();
  std::fprintf(stderr, "sluice ready %s\n", addresses.c_str());
  core::Log(core::LogLevel::kInfo, "ready", "Ready for events.",
            {{"events", events_->address()},
             {"admin", admin_->address()},
             {"schemas", static_cast<std::int64_t>(schemas_.stats().schemas)}});
  service_manager::Ready("Taking events on " + events_->address());
}

void Daemon::WatchLoops() {
  liveness_.Watch("I/O threads", [this] { return events_->last_beat(); });
  liveness_.Watch("admin listener", [this] { return admin_->last_beat(); });
  liveness_.Watch("producer", [this] { return producer_->last_poll(); });
}

// Until it is told to stop.
void Daemon::Serve() {
  const auto watchdog =
      std::chrono::duration_cast<milliseconds>(service_manager::WatchdogInterval());
  milliseconds pause(1000);
  if (watchdog.count() > 0) pause = std::min(pause, std::max(watchdog / 4, milliseconds(1)));
  while (true) {
    const int signal = signals_.Wait(pause);
    observation_.Tick();
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) reload_thread_.Ask();
    CheckLoops();
    TellStatus();
  }
}

// systemd hears that the process is alive only while every loop is.
void Daemon::CheckLoops() {
  const auto watchdog =
      std::chrono::duration_cast<milliseconds>(service_manager::WatchdogInterval());
  const milliseconds patience = watchdog.count() > 0 ? watchdog / 2 : kLoopPatience;
  const std::string stuck = liveness_.Stuck(steady_clock::now(), patience);
  if (stuck.empty()) return service_manager::Alive();
  core::Log(core::LogLevel::kError, "loop_stuck",
            "Threads do not come round their loops: the process does not do its work.",
            {{"loops", stuck}});
}

void Daemon::TellStatus() {
  const auto now = steady_clock::now();
  if (now < status_line_due_) return;
  status_line_due_ = now + kBetweenStatus;
  service_manager::Status(status_line_.Next(now) + ", " + std::to_string(admission_.connections()) +
                          " connections on " + events_->address());
}

std::vector<intake::ReadinessCondition> Daemon::Readiness() {
  std::vector<intake::ReadinessCondition> conditions;
  const bool draining = stopping_ || admission_.draining();
  conditions.push_back({"not_draining", !draining, draining ? "the process is stopping" : ""});
  const std::string trouble = producer_->trouble();
  conditions.push_back({"producer", trouble.empty(), trouble});
  if (const auto detour = producer_->detour())
    conditions.push_back({"kafka_target", true, *detour});  // good all the same
  if (producer_->spool_state() != produce::SpoolState::kOff) {
    // Good all the same: events can be taken without it while Kafka is well.
    conditions.push_back({"spool", true, producer_->spool_trouble()});
  }
  const bool room = admission_.bytes() < reloader_.current()->limits.memory_bytes;
  conditions.push_back(
      {"memory", room, room ? "" : "limits.memory_bytes is used up by requests in flight"});
  if (streams_.configured()) {
    const bool loaded = streams_.Current() != nullptr;
    conditions.push_back(
        {"stream_config", loaded, loaded ? updater_.Detail() : "no stream configuration was read"});
  }
  return conditions;
}

void Daemon::AwaitIdle(steady_clock::time_point until) {
  while (admission_.in_flight() > 0 && steady_clock::now() < until)
    std::this_thread::sleep_for(milliseconds(5));
}

// Whoever holds the listening sockets lets new connections wait there for the next process. Those
// that are open are ended by answers: each client hears of it before it sends again.
void Daemon::LeaveToSuccessor(steady_clock::time_point deadline) {
  events_->Leave(std::min(deadline, steady_clock::now() + kKeepAliveGrace));
  events_->CloseIdle(std::min(deadline, steady_clock::now() + kHalfRequestGrace));
}

// The data path in its own order: no new requests; what is in flight may end by itself; what still
// waits is made to end (schemas, then records), while the I/O threads live, so that every requester
// hears of it; then the threads.
int Daemon::Stop() {
  service_manager::Stopping("Finishing what was taken");
  core::Log(core::LogLevel::kInfo, "stopping", "Stopping: no new events from now on.");
  stopping_ = true;
  const core::ShutdownOptions options = reloader_.current()->shutdown;
  if (options.not_ready_delay.count() > 0) std::this_thread::sleep_for(options.not_ready_delay);
  const auto deadline = steady_clock::now() + options.deadline;
  const std::uint64_t lost_before = metrics_.hasty_lost();
  if (!inherited_.events.empty()) LeaveToSuccessor(deadline - options.deadline / 2);
  events_->StartDrain();
  AwaitIdle(deadline - std::min(config_.output.kafka.flush_timeout, options.deadline / 2));
  schemas_.Stop();
  const produce::StopReport report = producer_->Stop(deadline - options.deadline / 10);
  events_->Stop(deadline);
  updater_.Stop();  // first: a reload may wait for it
  reload_thread_.Stop();
  admin_->Stop();
  status_->Stop();
  metrics_.CheckSettled();
  if (declared_) declared_->Stop();
  // Hasty events that failed while stopping, wherever; the producer's own count has error events in
  // it too.
  const auto lost =
      static_cast<std::int64_t>(std::max(report.lost, metrics_.hasty_lost() - lost_before));
  core::Log(lost > 0 ? core::LogLevel::kError : core::LogLevel::kInfo, "stopped",
            lost > 0 ? "Stopped; records were lost." : "Stopped; nothing was lost.",
            {{"lost", lost}, {"spooled", static_cast<std::int64_t>(report.spooled)}});
  return lost > 0 ? kLoss : kGood;
}

}  // namespace

int Serve(const ConfigSource& source, const core::Config& config) {
  return Daemon(source, config).Run();
}

}  // namespace sluice::daemon
