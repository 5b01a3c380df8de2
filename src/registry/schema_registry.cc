#include "registry/schema_registry.h"

#include <malloc.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/log.h"
#include "core/loggable.h"
#include "fetch/http_fetcher.h"
#include "registry/load_task.h"
#include "registry/negative_cache.h"
#include "registry/precache.h"
#include "registry/registry_metrics.h"
#include "registry/schema_cache.h"
#include "registry/schema_loader.h"
#include "registry/worker.h"
#include "validate/schema_compiler.h"

namespace sluice::registry {

// Why a schema is asked for: only what clients name counts against the budget of unknown URIs.
enum class Origin : std::uint8_t { kEvent, kPrecache };

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxNegativeEntries = 8192;
constexpr int kUnavailableTtlDivisor = 10;  // what may pass is tried again sooner

core::Error ShuttingDown(std::string_view uri) {
  return {core::ErrorCode::kShuttingDown, LoadFailure(uri, "the service is stopping")};
}

validate::CompileOptions CompileOptionsOf(const core::SchemaOptions& options) {
  validate::CompileOptions compile;
  compile.formats =
      options.full_formats ? validate::FormatMode::kFull : validate::FormatMode::kFast;
  return compile;
}

}  // namespace

struct SchemaRegistry::Impl {
  Impl(const core::SchemaOptions& opts, core::Metrics& process_metrics, CompileFunction compile);
  ~Impl() { Stop(); }

  core::Result<void> Start();
  void Stop();
  void Get(std::string_view uri, Origin origin, SchemaCallback done);
  SchemaPtr Cached(std::string_view uri) const;
  std::size_t waiting() const;

  // On the worker.
  void Load(const std::string& uri, const std::string& shown_uri, Origin origin);
  void OnLoaded(const std::string& uri, LoadResult loaded, Origin origin);
  void Fetch(std::string url, std::function<void(fetch::HttpReply)> done);

  const core::SchemaOptions options;
  const AbsoluteUris absolute;
  RegistryMetrics metrics;
  SchemaCache cache;
  LoadEnvironment environment;

  mutable std::mutex mutex;  // guards the next seven
  std::unordered_map<std::string, std::vector<SchemaCallback>> in_flight;
  std::size_t waiters = 0;
  NegativeCache negative;
  LoadBudget budget;
  int max_unknown_per_minute;  // of `budget`
  std::chrono::milliseconds negative_ttl;
  bool stopped = false;

  // The HTTP side: begun with the first fetch. Tasks that wait for a reply live in `io`, which is
  // destroyed before what they refer to.
  std::optional<fetch::HttpFetcher> fetcher;
  boost::asio::io_context io{1};
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work;
  std::thread http_thread;
  Worker worker;
};

SchemaRegistry::Impl::Impl(const core::SchemaOptions& opts, core::Metrics& process_metrics,
                           CompileFunction compile)
    : options(opts),
      absolute(opts.allow_absolute_uris ? AbsoluteUris::kAllowed : AbsoluteUris::kRefused),
      metrics(process_metrics),
      negative(kMaxNegativeEntries, std::random_device()()),
      budget(opts.max_unknown_per_minute),
      max_unknown_per_minute(opts.max_unknown_per_minute),
      negative_ttl(opts.negative_ttl) {
  environment.file_extension = options.file_extension;
  environment.absolute = absolute;
  environment.compile = std::move(compile);
  environment.fetch = [this](std::string url, std::function<void(fetch::HttpReply)> done) {
    Fetch(std::move(url), std::move(done));
  };
  environment.compiled_from = [this](const std::string& location) {
    return cache.FindByLocation(location);
  };
}

core::Result<void> SchemaRegistry::Impl::Start() {
  auto bases = ParseBaseUris(options.base_uris);
  if (!bases) return bases.error();
  for (const auto& base : *bases) {
    if (auto checked = CheckFolder(base); !checked) return checked;
  }
  environment.bases = *std::move(bases);
  worker.Start();
  const auto began = SteadyClock::now();
  const AskForSchema ask = [this](const std::string& uri, SchemaCallback done) {
    Get(uri, Origin::kPrecache, std::move(done));
  };
  PrecacheNamed(options.precache_uris, ask);
  if (options.precache_all) PrecacheAll(environment.bases, ask);
  // The documents of all schemas went through the heap; give back what they took.
  malloc_trim(0);
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began);
  core::Log(core::LogLevel::kInfo, "schemas_loaded", "schemas are loaded",
            {{"schemas", static_cast<std::int64_t>(cache.uris())},
             {"bytes", static_cast<std::int64_t>(cache.bytes())},
             {"milliseconds", static_cast<std::int64_t>(took.count())}});
  return {};
}

void SchemaRegistry::Impl::Stop() {
  decltype(in_flight) left;
  {
    std::lock_guard lock(mutex);
    stopped = true;
    left.swap(in_flight);
    waiters = 0;
  }
  for (auto& [uri, callbacks] : left) {
    for (auto& callback : callbacks) callback(ShuttingDown(uri));
  }
  worker.Stop();  // first: it is what begins fetches
  work.reset();
  io.stop();
  if (http_thread.joinable()) http_thread.join();
}

SchemaPtr SchemaRegistry::Impl::Cached(std::string_view uri) const {
  if (auto schema = cache.Find(uri)) return schema;
  const auto normal = NormalizeSchemaUri(uri, absolute);
  return normal && *normal != uri ? cache.Find(*normal) : SchemaPtr();
}

void SchemaRegistry::Impl::Get(std::string_view uri, Origin origin, SchemaCallback done) {
  if (auto schema = cache.Find(uri)) {
    done(std::move(schema));
    return;
  }
  const auto normal = NormalizeSchemaUri(uri, absolute);
  if (!normal) {
    done(normal.error());
    return;
  }
  const auto now = SteadyClock::now();
  core::Result<SchemaPtr> known{SchemaPtr()};
  {
    std::lock_guard lock(mutex);
    // Looked up again: it may have come in since, and what is in flight leaves only after it is in
    // the cache.
    if (auto schema = cache.Find(*normal)) {
      known = std::move(schema);
    } else if (stopped) {
      known = ShuttingDown(uri);
    } else if (const core::Error* error = negative.Find(*normal, now)) {
      known = *error;
    } else {
      const auto found = in_flight.find(*normal);
      const bool is_first = found == in_flight.end();
      if (is_first && origin == Origin::kEvent && !budget.Take(now)) {
        known = core::Error{core::ErrorCode::kSchemaUnavailable,
                            LoadFailure(uri, "too many unknown schema URIs, more than " +
                                                 std::to_string(max_unknown_per_minute) +
                                                 " in a minute (schema_max_unknown_per_minute)")};
      } else {
        auto& callbacks = is_first ? in_flight[*normal] : found->second;
        callbacks.push_back(std::move(done));
        metrics.SetWaiting(++waiters);
        if (!is_first) return;
        worker.Post([this, normal = *normal, shown = std::string(uri), origin] {
          Load(normal, shown, origin);
        });
        return;
      }
    }
  }
  done(std::move(known));
}

void SchemaRegistry::Impl::Load(const std::string& uri, const std::string& shown_uri,
                                Origin origin) {
  const auto began = SteadyClock::now();
  LoadTask::Start(environment, uri, shown_uri, [this, uri, origin, began](LoadResult loaded) {
    metrics.CountLoad(loaded.schema, SteadyClock::now() - began);
    OnLoaded(uri, std::move(loaded), origin);
  });
}

void SchemaRegistry::Impl::OnLoaded(const std::string& uri, LoadResult loaded, Origin origin) {
  if (loaded.schema) {
    cache.Put(uri, loaded.location, *loaded.schema);
    metrics.SetCacheEntries(cache.uris());
  } else if (origin == Origin::kEvent) {  // precaching has its own words for it
    const core::Error& error = loaded.schema.error();
    const bool is_clients_fault = error.code == core::ErrorCode::kSchemaNotFound;
    const std::string_view name = core::LoggableName(uri);
    const bool tells_why = !name.empty() || core::LogEnabled(core::LogLevel::kDebug);
    core::Log(is_clients_fault ? core::LogLevel::kInfo : core::LogLevel::kWarn,
              "schema_load_failed",
              tells_why ? error.message : "A schema with a name that is not logged.",
              {{"code", core::ToString(error.code)}, {"schema_uri", name}});
  }
  std::vector<SchemaCallback> callbacks;
  {
    std::lock_guard lock(mutex);
    if (loaded.schema) {
      budget.GiveBack();
    } else {
      const bool may_pass = loaded.schema.error().code == core::ErrorCode::kSchemaUnavailable;
      const auto ttl = may_pass ? negative_ttl / kUnavailableTtlDivisor : negative_ttl;
      negative.Put(uri, loaded.schema.error(), SteadyClock::now(), ttl);
    }
    auto node = in_flight.extract(uri);
    if (node) callbacks = std::move(node.mapped());
    waiters -= callbacks.size();
    metrics.SetWaiting(waiters);
  }
  for (auto& callback : callbacks) callback(loaded.schema);
}

void SchemaRegistry::Impl::Fetch(std::string url, std::function<void(fetch::HttpReply)> done) {
  if (!fetcher) {
    fetch::HttpFetcher::Options http;
    http.total_timeout = options.fetch_timeout;
    fetcher.emplace(io, std::move(http));
    work.emplace(io.get_executor());
    http_thread = std::thread([this] { io.run(); });
  }
  fetcher->Get(std::move(url), [this, done = std::move(done)](fetch::HttpReply reply) {
    worker.Post([done, reply = std::move(reply)]() mutable { done(std::move(reply)); });
  });
}

std::size_t SchemaRegistry::Impl::waiting() const {
  std::lock_guard lock(mutex);
  return waiters;
}

void SchemaRegistry::Use(const core::SchemaOptions& options) {
  const std::lock_guard lock(impl_->mutex);
  impl_->negative_ttl = options.negative_ttl;
  if (impl_->max_unknown_per_minute == options.max_unknown_per_minute) return;
  impl_->max_unknown_per_minute = options.max_unknown_per_minute;
  impl_->budget = LoadBudget(options.max_unknown_per_minute);
}

SchemaRegistry::SchemaRegistry(const core::SchemaOptions& options, core::Metrics& metrics)
    : SchemaRegistry(options, metrics, CompileWith(CompileOptionsOf(options))) {}

SchemaRegistry::SchemaRegistry(const core::SchemaOptions& options, core::Metrics& metrics,
                               CompileFunction compile)
    : impl_(std::make_shared<Impl>(options, metrics, std::move(compile))) {}

SchemaRegistry::~SchemaRegistry() = default;

core::Result<void> SchemaRegistry::Start() { return impl_->Start(); }
void SchemaRegistry::Stop() { impl_->Stop(); }

SchemaPtr SchemaRegistry::Cached(std::string_view schema_uri) const {
  return impl_->Cached(schema_uri);
}

void SchemaRegistry::Get(std::string_view schema_uri, SchemaCallback done) {
  impl_->Get(schema_uri, Origin::kEvent, std::move(done));
}

SchemaRegistry::Stats SchemaRegistry::stats() const {
  return {impl_->cache.uris(), impl_->cache.bytes(), impl_->waiting()};
}

}  // namespace sluice::registry
