#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config_output.h"
#include "core/log.h"

// What can be configured, one struct per module, with the defaults of the flat shape. The table
// that reads, bounds and documents the keys is daemon/config_table.cc: a member here has one row
// there.
namespace sluice::core {

enum class TlsVersion : std::uint8_t { kTls12, kTls13 };

// TLS of one listener; without a certificate it speaks plain HTTP.
struct TlsOptions {
  std::string certificate;  // PEM file, the chain after it
  std::string key;          // PEM file
  std::string client_ca;    // PEM file; clients must then show a certificate of these
  std::vector<std::string> allowed_names;  // of client certificates; empty: any
  TlsVersion min_version = TlsVersion::kTls12;

  bool enabled() const { return !certificate.empty(); }
};

struct HttpOptions {
  std::string interface = "127.0.0.1";
  std::uint16_t port = 8888;
  std::string admin_interface = "127.0.0.1";
  std::uint16_t admin_port = 9102;
  int admin_max_connections = 1024;
  int io_threads = 0;                                     // 0: one per core
  std::vector<std::string> event_paths = {"/v1/events"};  // further ones are aliases
  std::optional<std::string> cors = "*";                  // nullopt: no CORS headers
  std::vector<std::string> cors_origins;                  // if any, instead of `cors`
  int cors_max_age = 0;                                   // seconds; 0: not said
  std::optional<std::string> csp =
      "default-src 'self'; object-src 'none'; media-src 'none'; img-src 'none'; style-src 'none'; "
      "base-uri 'self'; frame-ancestors 'self'";
  int compression_level = 3;                 // of answers; 0: never compressed
  std::uint64_t max_body_bytes = 10u << 20;  // before and after decompression
  std::string home_page;                     // /_info/home; empty: 404
  std::vector<std::string>
      trusted_proxies;  // CIDRs whose x-client-ip and x-forwarded-for are believed
  std::optional<std::string> schema_uri_query_param;
  std::optional<std::string> stream_query_param;
  std::string stream_config_api_path = "/w/api.php";  // empty: no such route
  std::string unix_socket;                            // path of a further listener; empty: none
  std::string admin_unix_socket;                      // the same
  TlsOptions tls;
  TlsOptions admin_tls;
};

// What one client or one stream may send in a second; 0: as much as it likes.
struct RateOptions {
  int requests = 0;
  int events = 0;
  std::uint64_t bytes = 0;

  bool any() const { return requests > 0 || events > 0 || bytes > 0; }
};

struct LimitOptions {
  int max_connections = 10000;  // of all I/O threads together
  int max_in_flight_requests = 4096;
  int max_events = 100000;                  // of one request
  std::uint64_t memory_bytes = 256u << 20;  // bodies, parse tables and records in flight
  std::uint32_t max_header_bytes = 16384;
  std::uint32_t max_uri_bytes = 8192;
  int max_headers = 128;
  int max_topics = 10000;                // that names from clients may open
  int max_depth = 1000;                  // nesting of a body
  std::uint64_t drain_bytes = 1u << 20;  // read and thrown away after a 413, at most
  std::chrono::milliseconds header_timeout{10000};
  std::chrono::milliseconds body_timeout{30000};
  std::chrono::milliseconds idle_timeout{620000};
  std::chrono::milliseconds write_timeout{30000};
  std::chrono::milliseconds delivery_timeout{10000};  // from admission to the answer; then 503
  int max_connections_per_address = 0;                // 0: no bound
  std::chrono::milliseconds max_connection_age{0};    // then closed between requests; 0: no bound
  RateOptions client;                                 // of one client address
  RateOptions stream;                                 // of one stream
  std::chrono::milliseconds rate_burst{2000};         // how much of a rate may be saved up
  int rate_clients = 100000;                          // addresses that are remembered
};

struct SchemaOptions {
  std::vector<std::string> base_uris;
  std::vector<std::string> uri_fields = {"$schema"};  // first one present wins
  std::string file_extension;
  std::vector<std::string> precache_uris;
  bool precache_all = true;  // of local base URIs, at start
  bool allow_absolute_uris = false;
  bool full_formats = false;  // false: ajv's fast mode
  std::chrono::milliseconds fetch_timeout{10000};
  std::chrono::milliseconds negative_ttl{30000};  // jittered by a quarter
  int max_unknown_per_minute = 600;               // loads of URIs never seen before
};

struct StreamOptions {
  std::string stream_field = "meta.stream";  // empty: the sanitised schema URI
  std::string dt_field = "meta.dt";
  std::string id_field = "meta.id";
  std::string topic_prefix;
  bool follow_topic_prefixes = false;  // a stream's `topic_prefixes: null` means no prefix

  // Where the streams come from; without any of the first three, any schema may go to any stream.
  std::string inline_config;              // a map of streams, JSON text
  std::vector<std::string> config_files;  // paths or file:// URIs, of folders too
  std::string config_uri;                 // the same, or an http(s) URL
  std::string default_settings;           // a map, JSON text; lies under every stream
  std::string config_object_path;         // where in the document of config_uri the streams are
  int config_ttl_seconds = 0;             // 0: never read again by itself
  int config_retries = 1;
  StringPairs config_headers;
  std::chrono::milliseconds config_timeout{10000};  // of one request
  std::uint64_t config_max_bytes = 64u << 20;       // of one document
};

// Streams that tools declare at run time, on the admin listener.
struct DeclaredStreamOptions {
  std::string tokens_file;  // who may; empty: the routes do not exist
  int max_streams = 1000;
  std::uint64_t max_bytes = 64u << 10;  // of one declaration
};

enum class WhenToSet : std::uint8_t { kAlways, kMissing, kNever };

struct EnrichmentOptions {
  WhenToSet meta_dt = WhenToSet::kAlways;
  WhenToSet meta_id = WhenToSet::kMissing;
  bool client_ip = true;  // http.client_ip, where declared
  StringPairs request_headers = {{"meta.request_id", "x-request-id"}};  // field path, header name
  std::string error_stream;                                             // empty: no error events
};

// The last refused events of each stream, to look at on the admin listener.
struct RefusedOptions {
  int keep = 0;  // of each stream; 0: none are kept
  int max_streams = 200;
  std::uint64_t max_event_bytes = 4u << 10;            // of one event; what is longer is cut
  std::vector<std::string> mask = {"http.client_ip"};  // field paths whose values are not shown
};

// Live events of the daemon on the admin listener.
struct TapOptions {
  int max_clients = 4;             // 0: there is no such route
  int max_events_per_second = 50;  // of one client
};

struct MetricOptions {
  bool eventgate_names = true;
  int max_label_values = 2000;  // distinct stream and schema pairs; then _other
};

struct ShutdownOptions {
  std::chrono::milliseconds not_ready_delay{0};  // not ready, but still serving, before the drain
  std::chrono::milliseconds deadline{15000};     // everything, flush included
};

// For `sluice streams canary`, not for serving.
struct CanaryOptions {
  std::vector<std::string> datacenters;  // each gets every canary event
  StringPairs services;  // "<destination_event_service>-<datacenter>" -> URL of its events route
  std::chrono::milliseconds timeout{10000};  // of one POST
};

struct Config {
  std::string service_name = "sluice";
  std::string user_agent = "sluice";
  HttpOptions http;
  LimitOptions limits;
  SchemaOptions schemas;
  StreamOptions streams;
  DeclaredStreamOptions declared_streams;
  EnrichmentOptions enrichment;
  RefusedOptions refused;
  TapOptions tap;
  OutputOptions output;
  MetricOptions metrics;
  ShutdownOptions shutdown;
  CanaryOptions canary;
  LogOptions log;
  std::vector<std::string> test_events;  // JSON texts; empty: GET /v1/_test/events is 404
};

}  // namespace sluice::core
