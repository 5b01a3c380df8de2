#include "daemon/reloader.h"

#include <fstream>

#include "config_text.h"

namespace sluice::daemon {
namespace {

using Names = std::vector<std::string>;

// A file that is written anew, and a part that records what it goes by.
struct Fixture {
  explicit Fixture(std::string_view text) : file(text) {
    reloader.AddPart([this](const ConfigChange& change) -> core::Result<Reloader::Apply> {
      ++asked;
      if (!refusal.empty()) return core::Error{core::ErrorCode::kInternal, refusal};
      return Reloader::Apply([this, config = change.config] { used = config; });
    });
  }

  ReloadReport Reload(std::string_view text) {
    std::ofstream(file.path()) << text;
    return reloader.Reload();
  }

  std::string Metric(const std::string& line) {
    const std::string text = metrics.Scrape();
    const std::size_t at = text.find("\n" + line);
    REQUIRE(at != std::string::npos);
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  }

  ConfigFile file;
  core::Metrics metrics{core::MetricOptions{}, "test"};
  Reloader reloader{{file.path(), {"limits.max_depth=99"}},
                    ReadConfig({file.path(), {"limits.max_depth=99"}}).config,
                    metrics};
  int asked = 0;
  std::string refusal;
  std::shared_ptr<const core::Config> used;
};

TEST_CASE("Reloader: a good file is in force, with the options of the start over it") {
  Fixture f(kMinimal);
  const ReloadReport report =
      f.Reload("schema_base_uris: [/schemas]\nlimits: {max_events: 5, max_depth: 3}\nport: 1\n");
  CHECK(report.applied);
  CHECK(report.generation == 2);
  CHECK(report.changed == Names{"limits.max_events"});
  CHECK(report.needs_restart == Names{"port"});
  CHECK(report.Summary() == "Changed limits.max_events. Needs a restart: port.");
  CHECK(f.reloader.current()->limits.max_events == 5);
  CHECK(f.reloader.current()->limits.max_depth == 99);
  CHECK(f.reloader.current()->http.port == 8888);
  CHECK(f.used == f.reloader.current());
  CHECK(f.Metric("sluice_config_reloads_total{outcome=\"applied\"").ends_with(" 1"));
  CHECK(f.Metric("sluice_config_generation").ends_with(" 2"));
}

TEST_CASE("Reloader: a bad file changes nothing and all that is wrong is told") {
  Fixture f(kMinimal);
  const auto before = f.reloader.current();
  const ReloadReport report = f.Reload("limits.max_events: 5\nport: 70000\ncolour: red\n");
  CHECK(!report.applied);
  CHECK(report.generation == 1);
  CHECK(report.problems.size() == 3);
  CHECK(report.changed == Names{});
  CHECK(f.asked == 0);
  CHECK(f.reloader.current() == before);
  CHECK(f.Metric("sluice_config_reloads_total{outcome=\"refused\"").ends_with(" 1"));
  CHECK(f.Metric("sluice_config_last_reload_successful").ends_with(" 0"));
  CHECK(f.Reload(kMinimal).applied);
  CHECK(f.Metric("sluice_config_last_reload_successful").ends_with(" 1"));
}

TEST_CASE("Reloader: a part that refuses keeps all parts as they were") {
  Fixture f(kMinimal);
  bool applied = false;
  f.reloader.AddPart([&](const ConfigChange&) -> core::Result<Reloader::Apply> {
    return Reloader::Apply([&] { applied = true; });
  });
  f.refusal = "streams: one\nstreams: two";
  const ReloadReport report = f.Reload("schema_base_uris: [/schemas]\ncors: false\n");
  CHECK(!report.applied);
  CHECK(report.problems == Names{"streams: one", "streams: two"});
  CHECK(!applied);
  CHECK(f.used == nullptr);
  CHECK(f.reloader.current()->http.cors == "*");
}

TEST_CASE("Reloader: a key that reloads must fit those that only a restart changes") {
  Fixture f(
      "schema_base_uris: [/s]\nlimits.delivery_timeout: 10s\n"
      "kafka.conf: {metadata.broker.list: 'b:1'}\n"
      "kafka.guaranteed.conf: {message.timeout.ms: 8000}\n");
  const ReloadReport report = f.Reload(
      "schema_base_uris: [/s]\nlimits.delivery_timeout: 5s\n"
      "kafka.conf: {metadata.broker.list: 'b:1'}\n"
      "kafka.guaranteed.conf: {message.timeout.ms: 3000}\n");
  CHECK(!report.applied);
  REQUIRE(report.problems.size() == 1);
  CHECK(report.problems[0].find("limits.delivery_timeout") != std::string::npos);
  CHECK(report.problems[0].find("kafka.guaranteed.conf)") != std::string::npos);
  CHECK(f.reloader.current()->limits.delivery_timeout == std::chrono::seconds(10));
}

}  // namespace
}  // namespace sluice::daemon
