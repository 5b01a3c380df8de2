#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "core/metrics.h"
#include "registry/compile_function.h"
#include "validate/compiled_schema.h"

namespace sluice::registry {

using SchemaCallback = std::function<void(core::Result<SchemaPtr>)>;

// Schema URI to compiled schema: looks under each base URI in order, compiles once, never forgets a
// schema once seen. All I/O and compilation runs on threads of its own.
class SchemaRegistry {
 public:
  SchemaRegistry(const core::SchemaOptions& options, core::Metrics& metrics);
  // With another compiler than validate::CompileSchema; for tests.
  SchemaRegistry(const core::SchemaOptions& options, core::Metrics& metrics,
                 CompileFunction compile);
  ~SchemaRegistry();

  // Reads what `precache_uris` and `precache_all` name, blocking. Fails with what an operator must
  // change: a base URI that cannot be read. Schemas of precache_all that do not compile are logged,
  // not fatal; those of precache_uris that cannot be loaded are logged as warnings as in the
  // original.
  core::Result<void> Start();
  // Fails what waits with kShuttingDown, ends the threads.
  void Stop();

  // Takes negative_ttl and max_unknown_per_minute of these from now on. Any thread.
  void Use(const core::SchemaOptions& options);

  // The schema if it is in the cache, else null. Takes a shared lock; callers keep the pointer. Any
  // thread.
  SchemaPtr Cached(std::string_view schema_uri) const;

  // Calls `done` once with the schema or the error: at once from this thread if the answer is known
  // (also a refused URI, or a fresh negative entry), else later from a registry thread. One fetch
  // per URI however many wait. Errors: kSchemaUriNotAllowed (message as the original's for absolute
  // URIs), else a message that begins with "Failed loading schema at <uri>". Any thread.
  void Get(std::string_view schema_uri, SchemaCallback done);

  struct Stats {
    std::size_t schemas = 0;
    std::size_t bytes = 0;
    std::size_t waiting = 0;
  };
  Stats stats() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sluice::registry
