#include "daemon/reloader.h"

#include <chrono>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/json_text.h"
#include "core/log.h"
#include "daemon/config_checks.h"

namespace sluice::daemon {
namespace {

prometheus::Counter& Reloads(core::Metrics& metrics, const char* outcome) {
  return prometheus::BuildCounter()
      .Name("sluice_config_reloads_total")
      .Help("Reloads of the configuration by how they ended.")
      .Register(metrics.registry())
      .Add({{"outcome", outcome}});
}

double NowSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string Join(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += between;
    text += part;
  }
  return text;
}

void AppendList(std::string& out, std::string_view name, const std::vector<std::string>& texts) {
  out += ",\"" + std::string(name) + "\":[";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    core::AppendJsonString(out, texts[i]);
  }
  out += ']';
}

void AddLines(std::vector<std::string>& problems, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) problems.push_back(line);
}

// Keys that reload are checked with those that do not: together they were in no file yet.
std::vector<std::string> CheckMerged(const ConfigReading& next, const ConfigChange& change) {
  std::vector<std::string> problems;
  if (change.needs_restart.empty()) return problems;
  ConfigReading merged;
  merged.config = *change.config;
  merged.shape = next.shape;
  merged.places = next.places;
  CheckConfig(merged);
  for (const ConfigProblem& problem : merged.problems) {
    problems.push_back(problem.Line() + " (with what only a restart changes: " +
                       Join(change.needs_restart, ", ") + ")");
  }
  return problems;
}

}  // namespace

std::string ReloadReport::Summary() const {
  if (!applied) return "The new configuration is bad, nothing was changed: " + Join(problems, "; ");
  std::string text = changed.empty() ? "Read the configuration again, no key changed."
                                     : "Changed " + Join(changed, ", ") + '.';
  if (!needs_restart.empty()) text += " Needs a restart: " + Join(needs_restart, ", ") + '.';
  return text;
}

std::string ReloadReport::Json() const {
  std::string out = applied ? R"({"outcome":"applied")" : R"({"outcome":"refused")";
  out += ",\"generation\":" + std::to_string(generation);
  AppendList(out, "changed", changed);
  AppendList(out, "needs_restart", needs_restart);
  AppendList(out, "problems", problems);
  return out + "}\n";
}

Reloader::Reloader(ConfigSource source, const core::Config& config, core::Metrics& metrics)
    : source_(std::move(source)),
      current_(std::make_shared<const core::Config>(config)),
      applied_total_(Reloads(metrics, "applied")),
      refused_total_(Reloads(metrics, "refused")),
      last_success_(prometheus::BuildGauge()
                        .Name("sluice_config_last_reload_success_timestamp_seconds")
                        .Help("When the configuration in force was read.")
                        .Register(metrics.registry())
                        .Add({})) {
  last_success_.Set(NowSeconds());
  metrics.AddGauge("sluice_config_generation",
                   "How many configurations were in force, that of the start included",
                   [this] { return static_cast<double>(generation_.load()); });
  metrics.AddGauge("sluice_config_last_reload_successful",
                   "0 if the last reload was refused, so that the file is not what is in force",
                   [this] { return last_applied_.load() ? 1.0 : 0.0; });
}

std::shared_ptr<const core::Config> Reloader::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

ReloadReport Reloader::Reload() {
  const std::lock_guard one_at_a_time(reloading_);
  ReloadReport report = Try();
  report.applied = report.problems.empty();
  report.generation = generation_.load();
  Count(report);
  return report;
}

ReloadReport Reloader::Try() {
  ReloadReport report;
  const ConfigReading reading = ReadConfig(source_);
  for (const ConfigProblem& problem : reading.problems) report.problems.push_back(problem.Line());
  if (!report.problems.empty()) return report;
  const ConfigChange change = CompareConfigs(*current(), reading.config);
  report.needs_restart = change.needs_restart;
  report.problems = CheckMerged(reading, change);
  if (!report.problems.empty()) return report;
  std::vector<Apply> changes;
  for (const Prepare& prepare : parts_) {
    core::Result<Apply> prepared = prepare(change);
    if (prepared.has_value()) {
      changes.push_back(*std::move(prepared));
    } else {
      AddLines(report.problems, prepared.error().message);
    }
  }
  if (!report.problems.empty()) return report;
  for (const Apply& apply : changes) {
    if (apply) apply();
  }
  {
    const std::lock_guard lock(mutex_);
    current_ = change.config;
  }
  report.changed = change.applied;
  if (!report.changed.empty()) generation_.fetch_add(1);
  return report;
}

void Reloader::Count(const ReloadReport& report) {
  (report.applied ? applied_total_ : refused_total_).Increment();
  last_applied_.store(report.applied);
  if (report.applied) last_success_.Set(NowSeconds());
  if (report.applied) {
    core::Log(report.needs_restart.empty() ? core::LogLevel::kInfo : core::LogLevel::kWarn,
              "config_reloaded", report.Summary(),
              {{"generation", static_cast<std::int64_t>(report.generation)},
               {"changed", Join(report.changed, " ")},
               {"needs_restart", Join(report.needs_restart, " ")}});
  } else {
    core::Log(core::LogLevel::kError, "config_reload_refused",
              "The configuration was not reloaded: the one before stays in force.",
              {{"problems", Join(report.problems, "\n")},
               {"generation", static_cast<std::int64_t>(report.generation)}});
  }
}

}  // namespace sluice::daemon
