#include "registry/schema_registry.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "support/temp_folder.h"
#include "validate/schema_compiler.h"

namespace sluice::registry {
namespace {

// A registry over one folder, with a compiler that counts and can be held.
struct Bench {
  Bench() { options.base_uris = {folder.path()}; }

  SchemaRegistry& Start() {
    registry.emplace(options, metrics,
                     [this](std::string_view uri, const boost::json::value& schema,
                            const DocumentLookup& documents) {
                       ++compiled;
                       if (gate.valid()) gate.wait();
                       return validate::CompileSchema(uri, schema, {}, documents);
                     });
    const auto started = registry->Start();
    REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
    return *registry;
  }

  core::Result<SchemaPtr> Get(std::string_view uri) {
    std::promise<core::Result<SchemaPtr>> promise;
    registry->Get(uri, [&](core::Result<SchemaPtr> result) { promise.set_value(result); });
    return promise.get_future().get();
  }
  core::Error GetError(std::string_view uri) {
    const auto result = Get(uri);
    REQUIRE(result.has_error());
    return result.error();
  }

  double Metric(const std::string& line_start) {
    const std::string text = metrics.Scrape();
    const auto at = text.find("\n" + line_start + " ");
    REQUIRE_MESSAGE(at != std::string::npos, line_start);
    return std::stod(text.substr(at + line_start.size() + 2));
  }

  test::TempFolder folder;
  core::SchemaOptions options;
  core::Metrics metrics{core::MetricOptions{}, "test"};
  std::atomic<int> compiled{0};
  std::shared_future<void> gate;
  std::optional<SchemaRegistry> registry;
};

}  // namespace

TEST_CASE("SchemaRegistry: one load however many ask at once") {
  Bench bench;
  bench.folder.Write("/a/1.0.0", "title: a\n");
  bench.options.precache_all = false;
  std::promise<void> open;
  bench.gate = open.get_future().share();
  SchemaRegistry& registry = bench.Start();

  constexpr int kThreads = 4;
  constexpr int kPerThread = 25;
  std::latch asked(kThreads);
  std::latch answered(kThreads * kPerThread);
  std::atomic<int> good{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPerThread; ++i) {
        registry.Get("/a/1.0.0", [&](core::Result<SchemaPtr> result) {
          if (result && (*result)->title() == "a") ++good;
          answered.count_down();
        });
      }
      asked.count_down();
    });
  }
  asked.wait();
  CHECK(registry.stats().waiting == kThreads * kPerThread);
  CHECK(bench.Metric("sluice_schema_waiting") == kThreads * kPerThread);
  CHECK(registry.Cached("/a/1.0.0") == nullptr);
  open.set_value();
  answered.wait();
  CHECK(good == kThreads * kPerThread);
  CHECK(bench.compiled == 1);
  CHECK(registry.stats().waiting == 0);
  CHECK(registry.stats().schemas == 1);
  CHECK(registry.stats().bytes > 0);
  CHECK(bench.Metric("sluice_schema_loads_total{result=\"loaded\"}") == 1);
  CHECK(bench.Metric("sluice_schema_cache_entries") == 1);
  CHECK(bench.Metric("sluice_schema_load_seconds_count") == 1);
}

TEST_CASE("SchemaRegistry: asking, scraping and stopping from many threads at once") {
  Bench bench;
  for (int i = 0; i < 20; ++i) {
    bench.folder.Write("/s" + std::to_string(i) + "/1.0.0", "title: t\n");
  }
  bench.options.precache_all = false;
  SchemaRegistry& registry = bench.Start();
  constexpr int kThreads = 4;
  constexpr int kPerThread = 60;
  std::latch answered(kThreads * kPerThread);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kPerThread; ++i) {
          const std::string uri = "/s" + std::to_string((i + t) % 30) + "/1.0.0";
          registry.Get(uri, [&](core::Result<SchemaPtr>) { answered.count_down(); });
          (void)registry.Cached(uri);
          (void)registry.stats();
        }
      });
    }
    threads.emplace_back([&] { registry.Stop(); });
  }
  answered.wait();
  CHECK(bench.compiled <= 20);
}

TEST_CASE("SchemaRegistry: a schema once seen stays, whatever becomes of its file") {
  Bench bench;
  bench.folder.Write("/a/1.0.0", "title: a\n");
  bench.options.precache_all = false;
  bench.Start();
  const auto schema = bench.Get("/a/1.0.0").value();
  std::filesystem::remove_all(bench.folder.path() + "/a");
  CHECK(bench.Get("/a/1.0.0").value() == schema);
  CHECK(bench.Get("/a/1.0.0#").value() == schema);
  CHECK(bench.registry->Cached("/a/1.0.0") == schema);
  CHECK(bench.registry->Cached("/a/1.0.0#") == schema);
}

TEST_CASE("SchemaRegistry: a failure is remembered, and answered at once") {
  Bench bench;
  bench.options.negative_ttl = std::chrono::hours(1);
  bench.Start();
  CHECK(bench.GetError("/a/1.0.0").code == core::ErrorCode::kSchemaNotFound);
  bench.folder.Write("/a/1.0.0", "title: a\n");
  bool answered = false;
  bench.registry->Get("/a/1.0.0", [&](core::Result<SchemaPtr> result) {
    answered = true;
    CHECK(result.has_error());
  });
  CHECK(answered);
  CHECK(bench.compiled == 0);
  CHECK(bench.Metric("sluice_schema_loads_total{result=\"schema_not_found\"}") == 1);
}

TEST_CASE("SchemaRegistry: a failure is forgotten in time") {
  Bench bench;
  bench.options.negative_ttl = std::chrono::milliseconds(0);
  bench.Start();
  CHECK(bench.GetError("/a/1.0.0").code == core::ErrorCode::kSchemaNotFound);
  bench.folder.Write("/a/1.0.0", "title: a\n");
  CHECK(bench.Get("/a/1.0.0").has_value());
}

TEST_CASE("SchemaRegistry: unknown URIs are capped, known and loadable ones are not") {
  Bench bench;
  bench.options.max_unknown_per_minute = 5;
  for (int i = 0; i < 20; ++i) {
    bench.folder.Write("/s" + std::to_string(i) + "/1.0.0", "title: t\n");
  }
  bench.options.precache_all = false;
  bench.Start();
  for (int i = 0; i < 20; ++i) {
    CHECK(bench.Get("/s" + std::to_string(i) + "/1.0.0").has_value());
  }
  int not_found = 0;
  int capped = 0;
  for (int i = 0; i < 20; ++i) {
    const auto error = bench.GetError("/unknown/" + std::to_string(i));
    if (error.code == core::ErrorCode::kSchemaNotFound) ++not_found;
    if (error.code == core::ErrorCode::kSchemaUnavailable) {
      ++capped;
      CHECK(error.message == "Failed loading schema at /unknown/" + std::to_string(i) +
                                 ": too many unknown schema URIs, more than 5 in a minute "
                                 "(schema_max_unknown_per_minute)");
    }
  }
  CHECK(not_found >= 5);
  CHECK(not_found <= 6);  // one more if twelve seconds passed
  CHECK(not_found + capped == 20);
  CHECK(bench.Get("/s3/1.0.0").has_value());
}

TEST_CASE("SchemaRegistry: refused URIs are answered at once and load nothing") {
  Bench bench;
  bench.Start();
  for (const char* uri : {"/../x", "http://127.0.0.1:1/x", "a/1.0.0", "//h/a"}) {
    bool answered = false;
    bench.registry->Get(uri, [&](core::Result<SchemaPtr> result) {
      answered = true;
      REQUIRE(result.has_error());
      CHECK(result.error().code == core::ErrorCode::kSchemaUriNotAllowed);
    });
    CHECK(answered);
  }
}

TEST_CASE("SchemaRegistry: start loads all versions of local bases, and lives with broken ones") {
  Bench bench;
  bench.folder.Write("/a/1.0.0.yaml", "title: a\n");
  bench.folder.Write("/a/1.0.0", "1.0.0.yaml");
  bench.folder.Write("/a/latest", "1.0.0.yaml");
  bench.folder.Write("/b/1.0.0.yaml", "title: b\n");
  bench.folder.Write("/broken/1.0.0.yaml", "type: 5\n");
  bench.options.precache_uris = {"/a/latest", "/missing/1.0.0"};
  SchemaRegistry& registry = bench.Start();
  CHECK(registry.Cached("/a/latest"));
  CHECK(registry.Cached("/a/1.0.0") == registry.Cached("/a/latest"));
  CHECK(registry.Cached("/b/1.0.0") == nullptr);  // has no link: events must name the file
  CHECK(registry.Cached("/b/1.0.0.yaml"));
  CHECK_FALSE(registry.Cached("/broken/1.0.0"));
  CHECK(bench.compiled == 3);
}

TEST_CASE("SchemaRegistry: start names the base URI that cannot be read") {
  Bench bench;
  bench.options.base_uris.push_back("/nonexistent/schemas");
  bench.registry.emplace(bench.options, bench.metrics);
  const auto started = bench.registry->Start();
  REQUIRE(started.has_error());
  CHECK(started.error().message.find("/nonexistent/schemas") != std::string::npos);
}

TEST_CASE("SchemaRegistry: stop fails what waits and what comes after") {
  Bench bench;
  bench.folder.Write("/a/1.0.0", "title: a\n");
  bench.options.precache_all = false;
  std::promise<void> open;
  bench.gate = open.get_future().share();
  SchemaRegistry& registry = bench.Start();
  std::promise<core::Result<SchemaPtr>> promise;
  registry.Get("/a/1.0.0", [&](core::Result<SchemaPtr> result) { promise.set_value(result); });
  std::jthread stopper([&] { registry.Stop(); });
  const auto waited = promise.get_future().get();
  REQUIRE(waited.has_error());
  CHECK(waited.error().code == core::ErrorCode::kShuttingDown);
  open.set_value();
  stopper.join();
  CHECK(bench.GetError("/b/1.0.0").code == core::ErrorCode::kShuttingDown);
}

}  // namespace sluice::registry
