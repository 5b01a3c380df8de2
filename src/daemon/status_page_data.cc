#include "daemon/status_page_data.h"

#include <array>
#include <string>
#include <utility>

#include "core/version.h"
#include "intake/status_html.h"
#include "produce/producer.h"

namespace sluice::daemon {
namespace {

using intake::BytesText;
using intake::CountText;
using intake::StatusFacts;
using intake::StatusTrends;

constexpr std::size_t kShownRefused = 10;

std::string OfText(const std::string& part, const std::string& whole) {
  return part + " of " + whole;
}

// The label `path` of the metrics.
std::string EventsLabel(const std::string& path) { return path == "/" ? "root" : path.substr(1); }

StatusFacts Requests(const core::Config& config, const StatusTrends& trends) {
  const double in_flight = trends.ValueOf("sluice_requests_in_flight");
  const double connections = trends.ValueOf("sluice_connections");
  const double memory = trends.ValueOf("sluice_memory_charged_bytes");
  return {
      "Requests",
      {{"In flight", OfText(CountText(in_flight), CountText(config.limits.max_in_flight_requests))},
       {"Connections", OfText(CountText(connections), CountText(config.limits.max_connections))},
       {"Memory charged",
        OfText(BytesText(memory), BytesText(static_cast<double>(config.limits.memory_bytes)))}}};
}

StatusFacts Output(const core::Config& config, const StatusTrends& trends) {
  const bool kafka = config.output.kind == core::OutputKind::kKafka;
  const bool files = config.output.kind == core::OutputKind::kFiles;
  const double failed = trends.ValueOf("sluice_records_failed_total");
  StatusFacts group{kafka ? "Kafka" : files ? "Files" : "Output: discarded", {}};
  group.facts = {
      {"Delivered", CountText(trends.ValueOf("sluice_records_delivered_total")) + " records"},
      {"Not delivered", CountText(failed) + " records", failed > 0},
      {"Waiting", BytesText(trends.ValueOf("sluice_producer_queued_bytes"))}};
  if (!kafka) return group;
  const double full = trends.ValueOf("sluice_kafka_queue_full_total");
  const double missing = trends.ValueOf("sluice_kafka_topics_missing");
  group.facts.push_back({"Refused, queue full", CountText(full), full > 0});
  group.facts.push_back(
      {"Sent once more", CountText(trends.ValueOf("sluice_kafka_records_replayed_total"))});
  group.facts.push_back({"Topics missing", CountText(missing), missing > 0});
  return group;
}

StatusFacts Spool(const StatusTrends& trends) {
  static constexpr std::array<const char*, 4> kStates = {"off", "takes events", "full", "broken"};
  const double state = trends.ValueOf("sluice_spool_state");
  const std::size_t known = state >= 0 && state < 4 ? static_cast<std::size_t>(state) : 0;
  const double waiting = trends.ValueOf("sluice_spool_records");
  const double aside = trends.ValueOf("sluice_spool_set_aside_total");
  StatusFacts group{"Spool", {{"State", kStates[known], known >= 2}}};
  if (known == 0) return group;
  group.facts.push_back({"Waiting", CountText(waiting) + " records"});
  if (waiting > 0) {
    const auto oldest =
        static_cast<std::int64_t>(trends.ValueOf("sluice_spool_oldest_age_seconds"));
    group.facts.push_back({"Oldest", intake::DurationText(std::chrono::seconds(oldest))});
  }
  group.facts.push_back({"On disk", BytesText(trends.ValueOf("sluice_spool_bytes"))});
  group.facts.push_back({"Replayed", CountText(trends.ValueOf("sluice_spool_replayed_total"))});
  if (aside > 0) group.facts.push_back({"Set aside", CountText(aside), true});
  return group;
}

StatusFacts Schemas(const StatusTrends& trends) {
  return {"Schemas",
          {{"Held", CountText(trends.ValueOf("sluice_schema_cache_entries"))},
           {"Loads", CountText(trends.ValueOf("sluice_schema_loads_total"))},
           {"Requests that wait", CountText(trends.ValueOf("sluice_schema_waiting"))}}};
}

StatusFacts Configuration(const StatusTrends& trends) {
  StatusFacts group{"Configuration",
                    {{"Generation", CountText(trends.ValueOf("sluice_config_generation"))}}};
  if (trends.values.contains("sluice_config_last_reload_successful") &&
      trends.ValueOf("sluice_config_last_reload_successful") <= 0)
    group.facts.push_back({"Last reload", "refused, see the log", true});
  const double generation = trends.ValueOf("sluice_stream_config_generation");
  if (generation <= 0) {
    group.facts.push_back({"Streams", "any"});
    return group;
  }
  group.facts.push_back({"Streams", CountText(trends.ValueOf("sluice_stream_config_streams"))});
  group.facts.push_back({"Generation of streams", CountText(generation)});
  const auto declared = trends.values.find("sluice_declared_streams");
  if (declared != trends.values.end())
    group.facts.push_back({"Declared by tools", CountText(declared->second)});
  const double copy = trends.ValueOf("sluice_stream_config_copy_age_seconds");
  if (copy > 0) {
    const std::chrono::seconds age(static_cast<std::int64_t>(copy));
    group.facts.push_back({"From a copy that is", intake::DurationText(age) + " old", true});
  }
  return group;
}

StatusFacts Process(const StatusTrends& trends) {
  return {"Process",
          {{"Memory", BytesText(trends.ValueOf("process_resident_memory_bytes"))},
           {"Open files", OfText(CountText(trends.ValueOf("process_open_fds")),
                                 CountText(trends.ValueOf("process_max_fds")))},
           {"Threads", CountText(trends.ValueOf("process_threads"))}}};
}

}  // namespace

StatusPageData::StatusPageData(Parts parts)
    : parts_(std::move(parts)), history_(EventsLabel(parts_.config.http.event_paths.front())) {}

void StatusPageData::AddTo(intake::AdminServer& admin) {
  for (intake::AdminRoute& route : intake::StatusRoutes([this] { return Data(); })) {
    admin.AddRoute(std::move(route));
  }
}

void StatusPageData::Start() {
  thread_ = std::thread([this] { Run(); });
}

void StatusPageData::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void StatusPageData::Run() {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    history_.Add(parts_.metrics.Collect(), std::chrono::steady_clock::now());
    lock.lock();
    next += intake::StatusHistory::kStep;
    wake_.wait_until(lock, next, [this] { return stopping_; });
  }
}

intake::StatusData StatusPageData::Data() const {
  intake::StatusData data;
  data.service = parts_.config.service_name;
  data.version = core::kVersion;
  data.now = std::chrono::system_clock::now();
  data.uptime =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun_);
  data.conditions = parts_.readiness();
  data.trends = history_.Trends();
  data.facts = {Output(parts_.config, data.trends),
                Spool(data.trends),
                Requests(*parts_.current_config(), data.trends),
                Schemas(data.trends),
                Configuration(data.trends),
                Process(data.trends)};
  if (parts_.config.output.kind != core::OutputKind::kKafka)
    data.facts.erase(data.facts.begin() + 1);
  if (parts_.refused != nullptr) {
    data.refused = parts_.refused->Last({}, kShownRefused);
  } else {
    data.refused_hint = "They are not kept: set refused.keep to see them here.";
  }
  return data;
}

}  // namespace sluice::daemon
