#include "intake/route.h"

#include "streams/stream_check.h"

namespace sluice::intake {
namespace {

constexpr std::size_t kMaxRoutes = 8192;

}  // namespace

RouteCache::RouteCache(const core::Config& config, const registry::SchemaRegistry& schemas,
                       streams::StreamRegistry& streams, core::Metrics& metrics)
    : config_(&config), schemas_(schemas), streams_(streams), metrics_(metrics) {}

void RouteCache::Use(const core::Config& config) {
  config_ = &config;
  last_ = nullptr;
  routes_.clear();
}

void RouteCache::Refresh() {
  if (!streams_.configured()) {
    if (routes_.size() < kMaxRoutes) return;
  } else if (generation_ == streams_.generation() && routes_.size() < kMaxRoutes) {
    return;
  } else {
    generation_ = streams_.generation();
    snapshot_ = streams_.Current();
  }
  last_ = nullptr;
  routes_.clear();
}

void RouteCache::GoBackTo(const std::shared_ptr<const streams::StreamSnapshot>& snapshot) {
  if (snapshot_ == snapshot && routes_.size() < kMaxRoutes) return;
  snapshot_ = snapshot;
  generation_ = snapshot ? snapshot->generation : 0;
  last_ = nullptr;
  routes_.clear();
}

Route* RouteCache::Find(std::string_view schema_uri, std::string_view stream) {
  if (last_ != nullptr && last_->schema_uri == schema_uri && last_->stream == stream) return last_;
  lookup_.assign(schema_uri);
  lookup_ += '\n';
  lookup_ += stream;
  const auto found = routes_.find(lookup_);
  if (found != routes_.end()) return last_ = found->second.get();
  return Make(schema_uri, stream);
}

Route* RouteCache::Make(std::string_view schema_uri, std::string_view stream) {
  registry::SchemaPtr schema = schemas_.Cached(schema_uri);
  if (!schema) return nullptr;
  auto route = std::make_unique<Route>();
  route->schema_uri = schema_uri;
  route->stream = stream;
  route->schema = std::move(schema);
  route->snapshot = snapshot_;
  if (snapshot_) {
    route->settings = snapshot_->Find(stream);
    const streams::EventIdentity identity{{}, schema_uri, stream};
    route->allowed =
        streams::CheckConfigured(identity, route->settings).has_value() &&
        streams::CheckSchemaTitle(identity, *route->settings, route->schema->title()).has_value();
  }
  route->dt_is_now =
      config_->enrichment.meta_dt == core::WhenToSet::kAlways &&
      route->schema->Declares(config_->streams.dt_field) != validate::CompiledSchema::Declared::kNo;
  route->enrichment = EnrichmentPlan(*config_, *route->schema, route->settings);
  if (route->settings != nullptr) route->key = RecordKey(route->settings->message_key_fields);
  route->topic_name = streams::TopicOf(stream, route->settings, config_->streams);
  if (route->settings == nullptr || route->settings->regex) route->topic_limit = &streams_.topics();
  const bool known = !snapshot_ || route->settings != nullptr;
  route->counters = &metrics_.Route(stream, schema_uri, known);
  last_ = route.get();
  routes_.emplace(lookup_, std::move(route));
  return last_;
}

}  // namespace sluice::intake
