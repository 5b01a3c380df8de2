#include "daemon/service_file.h"

#include <array>

namespace sluice::daemon {
namespace {

constexpr std::string_view kNodeProcess = "it tunes the original's Node.js process";
constexpr auto kIgnored = std::to_array<IgnoredKeyName>({
    {"num_workers", "one process serves on threads: io_threads says how many"},
    {"worker_heap_limit_mb", "limits.memory_bytes bounds the memory of requests"},
    {"worker_heartbeat_timeout", kNodeProcess},
    {"ratelimiter", kNodeProcess},
    {"info", kNodeProcess},
    {"logging.name", "service_name names the log lines"},
    {"logging.streams", "logs go to stderr: logging.format says how"},
    {"metrics.name", "service_name names the metrics"},
    {"metrics.type", "metrics are Prometheus text"},
    {"metrics.host", "metrics are scraped, not sent"},
    {"metrics.prefix", "metrics keep their names"},
    {"metrics.batch", "metrics are scraped, not sent"},
    {"metrics.collect_default", "process metrics are always there"},
    {"metrics.buckets", "buckets are fixed"},
    {"entrypoint", "it names JavaScript code"},
    {"module", "it names JavaScript code"},
    {"app_root", "it names JavaScript code"},
    {"transforms", "completing events is built in: enrichment.* says how"},
    {"test_kitchen.", "it belongs to a transform of the original that is not built in"},
    {"log_header_whitelist", "request headers are never logged"},
    {"proxy", "outgoing requests are made directly"},
    {"no_proxy_list", "outgoing requests are made directly"},
    {"spec", "the OpenAPI document is built in"},
    {"output_path", "output and data_dir say where events go"},
    {"stream_config_uri_options.", "only its headers are used"},
});

}  // namespace

std::span<const IgnoredKeyName> IgnoredKeyNames() { return kIgnored; }

std::string_view ReasonIgnored(std::string_view name) {
  for (const IgnoredKeyName& key : kIgnored) {
    const bool is_prefix = key.name.back() == '.';
    if (name == key.name || (is_prefix && (name.starts_with(key.name) ||
                                           name == key.name.substr(0, key.name.size() - 1)))) {
      return key.reason;
    }
  }
  return {};
}

std::string_view ResolveAlias(std::string_view name) {
  return name == "metrics.port" ? "admin.port" : name;
}

void ApplyServiceFileDefaults(core::Config& config) {
  config.http.interface = "0.0.0.0";
  config.http.admin_interface = "0.0.0.0";
  config.http.max_body_bytes = 100u << 10;
  config.limits.max_depth = 10000;  // the original has no limit; recorded with 3,000
}

bool IsGenericFactory(std::string_view module) {
  if (module.ends_with(".js")) module.remove_suffix(3);
  return module.empty() || module.substr(module.rfind('/') + 1) == "default-eventgate";
}

void ApplyGenericFactoryDefaults(core::Config& config) {
  config.streams.stream_field.clear();
  config.enrichment.meta_dt = core::WhenToSet::kNever;
  config.enrichment.meta_id = core::WhenToSet::kNever;
  config.enrichment.client_ip = false;
  config.enrichment.request_headers.clear();
}

}  // namespace sluice::daemon
