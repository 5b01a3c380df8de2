#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/config.h"
#include "core/metrics.h"
#include "intake/enrichment.h"
#include "intake/record_key.h"
#include "produce/producer.h"
#include "registry/schema_registry.h"
#include "streams/stream_registry.h"

namespace sluice::intake {

// Everything that is the same for all events of one schema URI in one stream, found once and kept.
struct Route {
  std::string schema_uri;
  std::string stream;
  registry::SchemaPtr schema;
  std::shared_ptr<const streams::StreamSnapshot>
      snapshot;  // keeps `settings` alive; null if not configured
  const streams::StreamSettings* settings = nullptr;
  bool allowed = true;     // by the stream check
  bool dt_is_now = false;  // the record's time is the receive time
  EnrichmentPlan enrichment;
  RecordKey key;
  std::string topic_name;
  streams::TopicLimit* topic_limit = nullptr;  // set if the name comes from clients
  produce::Topic* topic = nullptr;             // opened with the first valid event
  core::RouteCounters* counters = nullptr;
};

// The routes of one I/O thread. A change of the stream configuration empties it; so does reaching
// the bound, since without stream configuration the names come from clients. Not thread-safe.
class RouteCache {
 public:
  RouteCache(const core::Config& config, const registry::SchemaRegistry& schemas,
             streams::StreamRegistry& streams, core::Metrics& metrics);

  // Makes routes by this configuration from now on; pointers that Find returned before are void.
  void Use(const core::Config& config);

  // Drops what an older stream configuration has left. Call once before the events of a request are
  // looked up; pointers that Find returned before are void.
  void Refresh();

  // In place of Refresh, for the events of a request that waited: the streams that it began with,
  // whatever is current by now.
  void GoBackTo(const std::shared_ptr<const streams::StreamSnapshot>& snapshot);

  // The route, or null if the schema is not in the registry's cache. Valid until the next Refresh.
  Route* Find(std::string_view schema_uri, std::string_view stream);

  // The snapshot as of Refresh or GoBackTo, null if streams are not configured.
  const std::shared_ptr<const streams::StreamSnapshot>& snapshot() const { return snapshot_; }

 private:
  Route* Make(std::string_view schema_uri, std::string_view stream);

  const core::Config* config_;
  const registry::SchemaRegistry& schemas_;
  streams::StreamRegistry& streams_;
  core::Metrics& metrics_;
  std::shared_ptr<const streams::StreamSnapshot> snapshot_;
  std::uint64_t generation_ = 0;
  Route* last_ = nullptr;  // events of a batch mostly share one
  std::string lookup_;
  std::unordered_map<std::string, std::unique_ptr<Route>> routes_;
};

}  // namespace sluice::intake
