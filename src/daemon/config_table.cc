#include "daemon/config_table.h"

#include <algorithm>
#include <array>
#include <vector>

#include "daemon/config_rows.h"

namespace sluice::daemon {
namespace {

using core::CanaryOptions;
using core::Config;
using core::DeclaredStreamOptions;
using core::EnrichmentOptions;
using core::HttpOptions;
using core::LimitOptions;
using core::LogOptions;
using core::MetricOptions;
using core::RateOptions;
using core::RefusedOptions;
using core::SchemaOptions;
using core::ShutdownOptions;
using core::StreamOptions;
using core::TapOptions;
using core::TlsOptions;

template <auto Field>
constexpr auto kHttp = &In<&Config::http, Field>;
template <auto Field>
constexpr auto kLimits = &In<&Config::limits, Field>;
template <auto Scope, auto Field>
constexpr auto kRates = &In<&Config::limits, Scope, Field>;
template <auto Field>
constexpr auto kTls = &In<&Config::http, &HttpOptions::tls, Field>;
template <auto Field>
constexpr auto kAdminTls = &In<&Config::http, &HttpOptions::admin_tls, Field>;
template <auto Field>
constexpr auto kSchemas = &In<&Config::schemas, Field>;
template <auto Field>
constexpr auto kStreams = &In<&Config::streams, Field>;
template <auto Field>
constexpr auto kDeclared = &In<&Config::declared_streams, Field>;
template <auto Field>
constexpr auto kEnrichment = &In<&Config::enrichment, Field>;
template <auto Field>
constexpr auto kShutdown = &In<&Config::shutdown, Field>;
constexpr std::int64_t kMaxPort = 65535;
// The second word of always | missing | never.
constexpr std::int64_t kFromMissing = static_cast<std::int64_t>(core::WhenToSet::kMissing);

// clang-format off
const auto kKeysBefore = std::to_array<ConfigKey>({
    {"service_name", &In<&Config::service_name>,
     "Name of this instance in logs, in metrics and at /_info.", 0, 0, Notation::kPlain, "sluice-main"},
    {"user_agent", &In<&Config::user_agent>,
     "How this instance names itself to schema hosts, in Kafka's client.id and as emitter of error events.",
     0, 0, Notation::kPlain, "sluice-main-production"},
    {"port", kHttp<&HttpOptions::port>,
     "Port for events; 0 binds a free one, which the ready line tells.", 0, kMaxPort},
    {"interface", kHttp<&HttpOptions::interface>,
     "Address for events. In a service file the default is 0.0.0.0.", 0, 0, Notation::kPlain, "0.0.0.0"},
    {"unix_socket", kHttp<&HttpOptions::unix_socket>,
     "Path of a unix socket that takes events too, always without TLS, for the user and group of the daemon. Its peers' "
     "x-client-ip and x-forwarded-for are believed. Empty: none."},
    {"io_threads", kHttp<&HttpOptions::io_threads>,
     "Threads that serve connections; 0: one for each core.", 0, 1024},
    Live({"event_paths", kHttp<&HttpOptions::event_paths>,
     "Paths that take POSTs of events; the first is the main one, further ones are aliases of it."}),
    Live({"cors", kHttp<&HttpOptions::cors>,
     "Value of access-control-allow-origin; false: no CORS headers at all.", 0, 0, Notation::kPlain, "false"}),
    Live({"cors_origins", kHttp<&HttpOptions::cors_origins>,
     "Origins whose pages may send events and read the answers, which then name the one that asks; others get no CORS "
     "headers. If there are any, cors does not count."}),
    Live({"cors_max_age", kHttp<&HttpOptions::cors_max_age>,
     "Seconds for which a browser may remember the answer to a preflight; 0: not said, so its own default.", 0, 86400}),
    Live({"csp", kHttp<&HttpOptions::csp>,
     "Value of content-security-policy; false: neither this nor the other security headers."}),
    Live({"compression_level", kHttp<&HttpOptions::compression_level>,
     "Compression of answers above 1 kB for clients that accept it; 0: never.", 0, 9}),
    Live({"max_body_size", kHttp<&HttpOptions::max_body_bytes>,
     "Largest request body, checked before and after decompression. In a service file the default is 100kb.",
     1, 2 * kGiB - 1, Notation::kBytes}),
    Live({"home_page", kHttp<&HttpOptions::home_page>,
     "Where /_info/home redirects to; empty: 404."}),
    Live({"trusted_proxies", kHttp<&HttpOptions::trusted_proxies>,
     "Networks (CIDR) of proxies whose x-client-ip and x-forwarded-for are believed.",
     0, 0, Notation::kPlain, "[10.0.0.0/8, 127.0.0.1/32]"}),
    Live({"schema_uri_query_param", kHttp<&HttpOptions::schema_uri_query_param>,
     "Query parameter that gives the schema URI of events without one; false: none."}),
    Live({"stream_query_param", kHttp<&HttpOptions::stream_query_param>,
     "Query parameter that gives the stream of events without one; false: none."}),
    Live({"stream_config_api_path", kHttp<&HttpOptions::stream_config_api_path>,
     "Path where the stream configuration is served as MediaWiki's EventStreamConfig API does "
     "(?action=streamconfigs); empty: nowhere."}),
    Live({"test_events", &In<&Config::test_events>,
     "Events that GET /v1/_test/events processes as if they had been posted; without any it is 404.",
     0, 0, Notation::kJsonTexts, "[{$schema: /test/event/1.0.0, meta: {stream: sluice-main.test.event}}]"}),
    {"admin.port", &In<&Config::http, &HttpOptions::admin_port>,
     "Port for /metrics, /healthz and /readyz; 0 binds a free one. A service file's metrics.port means this.",
     0, kMaxPort},
    {"admin.interface", kHttp<&HttpOptions::admin_interface>,
     "Address for metrics and health. In a service file the default is 0.0.0.0.", 0, 0, Notation::kPlain, "0.0.0.0"},
    {"admin.unix_socket", kHttp<&HttpOptions::admin_unix_socket>,
     "Path of a unix socket that serves what the admin listener does, always without TLS, for the user and group of "
     "the daemon; empty: none."},
    {"admin.max_connections", kHttp<&HttpOptions::admin_max_connections>,
     "Connections to the admin listener at one time; 32 more serve /metrics, /healthz and /readyz only, beyond these "
     "the one that has been idle longest is closed.",
     16, 100'000},
    {"tls.certificate", kTls<&TlsOptions::certificate>,
     "PEM file of the certificate for events, the certificates that sign it after it; with it the listener speaks "
     "HTTPS, TLS 1.2 and 1.3. It is read again when it changes. ${CREDENTIALS_DIRECTORY} at its beginning is systemd's "
     "folder of credentials. Empty: plain HTTP."},
    {"tls.key", kTls<&TlsOptions::key>,
     "PEM file of the certificate's key, without a passphrase."},
    {"tls.client_ca", kTls<&TlsOptions::client_ca>,
     "PEM file of those who sign certificates of clients, who then must have one; empty: nobody is asked."},
    {"tls.allowed_names", kTls<&TlsOptions::allowed_names>,
     "DNS names, URIs or common names, one of which a client's certificate must have; empty: any."},
    {"tls.min_version", kTls<&TlsOptions::min_version>,
     "Least version of TLS."},
    {"admin.tls.certificate", kAdminTls<&TlsOptions::certificate>,
     "As tls.certificate, for the admin listener; then also for its health checks and metrics."},
    {"admin.tls.key", kAdminTls<&TlsOptions::key>,
     "As tls.key."},
    {"admin.tls.client_ca", kAdminTls<&TlsOptions::client_ca>,
     "As tls.client_ca."},
    {"admin.tls.allowed_names", kAdminTls<&TlsOptions::allowed_names>,
     "As tls.allowed_names."},
    {"admin.tls.min_version", kAdminTls<&TlsOptions::min_version>,
     "As tls.min_version."},

    Live({"limits.max_connections", kLimits<&LimitOptions::max_connections>,
     "Connections at one time; further ones are closed at once.", 1, 10'000'000}),
    Live({"limits.max_in_flight_requests", kLimits<&LimitOptions::max_in_flight_requests>,
     "Requests at one time that wait for validation or delivery (hasty ones only for validation); further ones get 503.", 1, 10'000'000}),
    Live({"limits.max_events", kLimits<&LimitOptions::max_events>,
     "Events of one request; a body with more is refused.", 1, 10'000'000}),
    Live({"limits.memory_bytes", kLimits<&LimitOptions::memory_bytes>,
     "Budget for bodies, their parse tables and records in flight; requests above it get 503.",
     kMiB, 1024 * kGiB, Notation::kBytes}),
    Live({"limits.max_header_bytes", kLimits<&LimitOptions::max_header_bytes>,
     "Largest request head.", kKiB, kMiB, Notation::kBytes}),
    Live({"limits.max_uri_bytes", kLimits<&LimitOptions::max_uri_bytes>,
     "Longest request target, query included; a longer one gets 414. Within limits.max_header_bytes.",
     256, kMiB, Notation::kBytes}),
    Live({"limits.max_headers", kLimits<&LimitOptions::max_headers>,
     "Most header fields of a request; more get 431.", 16, 10'000}),
    Live({"limits.max_topics", kLimits<&LimitOptions::max_topics>,
     "Topics that names from clients may open, where a stream's entry is a regex or none is asked for; events for "
     "further ones get 503.", 1, 10'000'000}),
    Live({"limits.max_depth", kLimits<&LimitOptions::max_depth>,
     "Deepest nesting of a body.", 1, 100'000}),
    Live({"limits.drain_bytes", kLimits<&LimitOptions::drain_bytes>,
     "How much of a body that is too large is read and thrown away, so that its sender sees the 413.",
     0, kGiB, Notation::kBytes}),
    Live({"limits.header_timeout", kLimits<&LimitOptions::header_timeout>,
     "Longest time between the first and the last byte of a request head.", 10, kHour}),
    Live({"limits.body_timeout", kLimits<&LimitOptions::body_timeout>,
     "Longest time for a request body.", 10, kHour}),
    Live({"limits.idle_timeout", kLimits<&LimitOptions::idle_timeout>,
     "How long a connection may wait for its next request. Above the balancer's own, or it sees resets.",
     10, 24 * kHour}),
    Live({"limits.write_timeout", kLimits<&LimitOptions::write_timeout>,
     "Longest time for a client to take its answer.", 10, kHour}),
    Live({"limits.delivery_timeout", kLimits<&LimitOptions::delivery_timeout>,
     "From admission to the answer; then 503. Above message.timeout.ms of the guaranteed Kafka producer.",
     10, kHour}),

    Live({"limits.max_connections_per_address", kLimits<&LimitOptions::max_connections_per_address>,
     "Connections of one client address (IPv6: of one /64) at one time; further ones are closed at once. Those of "
     "trusted_proxies are not counted. 0: no bound.", 0, 10'000'000}),
    Live({"limits.max_connection_age", kLimits<&LimitOptions::max_connection_age>,
     "After this time, give or take a tenth, a connection is closed with its next answer. 0: no bound.", 0, 365 * 24 * kHour}),
    Live({"limits.client.requests", kRates<&LimitOptions::client, &RateOptions::requests>,
     "Requests a second of one client address (IPv6: of one /64; of trusted_proxies the address that they name); "
     "further ones get 429. 0: no limit.", 0, 10'000'000}),
    Live({"limits.client.events", kRates<&LimitOptions::client, &RateOptions::events>,
     "The same for events; a request is taken or refused whole.", 0, 100'000'000}),
    Live({"limits.client.bytes", kRates<&LimitOptions::client, &RateOptions::bytes>,
     "The same for bytes of request bodies, as sent.", 0, 1024 * kGiB, Notation::kBytes}),
    Live({"limits.stream.events", kRates<&LimitOptions::stream, &RateOptions::events>,
     "Events a second of one stream; further ones fail as rate_limited, the others of their request do not. 0: no limit.",
     0, 100'000'000}),
    Live({"limits.stream.bytes", kRates<&LimitOptions::stream, &RateOptions::bytes>,
     "The same for bytes of events.", 0, 1024 * kGiB, Notation::kBytes}),
    Live({"limits.rate_burst", kLimits<&LimitOptions::rate_burst>,
     "How much of limits.client and limits.stream may be saved up: so many seconds' worth can come at once.",
     10, kHour}),
    {"limits.rate_clients", kLimits<&LimitOptions::rate_clients>,
     "Client addresses, and streams, whose rates are remembered, about 130 bytes each. Those that keep to their limit "
     "make room; while none does, further ones share one limit.", 1, 100'000'000},

    {"schema_base_uris", kSchemas<&SchemaOptions::base_uris>,
     "Where schemas are looked for, in order: folders, file:// or http(s):// URIs. At least one.",
     0, 0, Notation::kPlain, "[file:///srv/schemas/primary/jsonschema, file:///srv/schemas/secondary/jsonschema]"},
    {"schema_uri_field", kSchemas<&SchemaOptions::uri_fields>,
     "Field, or list of fields, that names an event's schema; the first that is present counts."},
    {"schema_file_extension", kSchemas<&SchemaOptions::file_extension>,
     "Put behind schema URIs that have no extension, for example .yaml."},
    {"schema_precache_uris", kSchemas<&SchemaOptions::precache_uris>,
     "Schema URIs that are loaded at start; one that cannot be loaded is a warning.",
     0, 0, Notation::kPlain, "[/error/1.0.0, /test/event/1.0.0]"},
    {"schema_precache_all", kSchemas<&SchemaOptions::precache_all>,
     "Whether all schemas of local base URIs are loaded at start."},
    {"allow_absolute_schema_uris", kSchemas<&SchemaOptions::allow_absolute_uris>,
     "Whether events may name schemas with a whole URL, which is then fetched."},
    {"schema_formats", kSchemas<&SchemaOptions::full_formats>,
     "How strictly `format` is checked: fast as the original does, full as the drafts say.",
     0, 0, Notation::kFormatMode},
    {"schema_fetch_timeout", kSchemas<&SchemaOptions::fetch_timeout>,
     "Longest time for one schema from an http(s) base URI.", 10, kHour},
    Live({"schema_negative_ttl", kSchemas<&SchemaOptions::negative_ttl>,
     "How long a schema that could not be loaded is not tried again, give or take a quarter.", 0, 24 * kHour}),
    Live({"schema_max_unknown_per_minute", kSchemas<&SchemaOptions::max_unknown_per_minute>,
     "Loads of schema URIs never seen before, a minute; what is above fails at once as retryable.", 1, 1'000'000}),

    Live({"stream_field", kStreams<&StreamOptions::stream_field>,
     "Field that names an event's stream; empty: the stream is made of the schema URI."}),
    Live({"dt_field", kStreams<&StreamOptions::dt_field>,
     "Field with the event's time, which becomes the record's timestamp."}),
    Live({"id_field", kStreams<&StreamOptions::id_field>,
     "Field with the event's id."}),
    {"topic_prefix", kStreams<&StreamOptions::topic_prefix>,
     "Put before the stream's name to make the topic, except for eventlogging_ streams.",
     0, 0, Notation::kPlain, "eqiad."},
    {"stream_topic_prefixes", kStreams<&StreamOptions::follow_topic_prefixes>,
     "Whether a stream with topic_prefixes: null gets no prefix (follow) or that of all (ignore, as the original).",
     0, 0, Notation::kIgnoreFollow},
    Live({"stream_config", kStreams<&StreamOptions::inline_config>,
     "Streams and their settings, here in the configuration. They win over files, files over stream_config_uri; "
     "an empty map says that only declared streams exist.",
     0, 0, Notation::kJsonMap, "{sluice-main.test.event: {schema_title: test/event}}"}),
    Live({"stream_config_default_settings", kStreams<&StreamOptions::default_settings>,
     "Settings that lie under those of every stream, whatever source it comes from.",
     0, 0, Notation::kJsonMap, "{topic_prefixes: [eqiad., codfw.]}"}),
    Live({"stream_config_files", kStreams<&StreamOptions::config_files>,
     "Files (YAML or JSON) of streams, or folders of them in the order of their names; watched for changes.",
     0, 0, Notation::kPlain, "[/etc/sluice/streams.d]"}),
    Live({"stream_config_uri", kStreams<&StreamOptions::config_uri>,
     "File, folder (path or file:// URI) or http(s) URL that says which streams there are and which schema each "
     "takes. Without this, files and stream_config, any schema may go to any stream.",
     0, 0, Notation::kPlain, "/etc/sluice/streams.yaml"}),
    Live({"stream_config_object_path", kStreams<&StreamOptions::config_object_path>,
     "Where in the document of stream_config_uri the streams are, for example streams; empty: it is the document "
     "itself, or its EventStreams.",
     0, 0, Notation::kPlain, "streams"}),
    Live({"stream_config_ttl", kStreams<&StreamOptions::config_ttl_seconds>,
     "Seconds after which the stream configuration is read again, give or take a tenth; 0: when its files change "
     "and on SIGHUP only.", 0, 86400}),
    Live({"stream_config_retries", kStreams<&StreamOptions::config_retries>,
     "How often a failed read of a remote stream configuration is repeated, each time.", 0, 100}),
    Live({"stream_config_uri_options.headers", kStreams<&StreamOptions::config_headers>,
     "Headers of requests for a remote stream configuration.", 0, 0, Notation::kSecretPairs}),
    Live({"stream_config_timeout", kStreams<&StreamOptions::config_timeout>,
     "Longest time for one request for a remote stream configuration.", 10, kHour}),
    Live({"stream_config_max_bytes", kStreams<&StreamOptions::config_max_bytes>,
     "Largest document of stream configuration.", kKiB, kGiB, Notation::kBytes}),
    {"declared_streams.tokens_file", kDeclared<&DeclaredStreamOptions::tokens_file>,
     "File of bearer tokens of those who may declare streams on the admin listener (PUT /v1/streams/NAME); empty: "
     "nobody, and the paths do not exist. ${CREDENTIALS_DIRECTORY} at its beginning is systemd's folder of credentials.",
     0, 0, Notation::kPlain, "${CREDENTIALS_DIRECTORY}/stream-tokens"},
    {"declared_streams.max_streams", kDeclared<&DeclaredStreamOptions::max_streams>,
     "Most streams that can be declared at one time.", 1, 100'000},
    {"declared_streams.max_bytes", kDeclared<&DeclaredStreamOptions::max_bytes>,
     "Largest declaration of a stream.", kKiB, 16 * kMiB, Notation::kBytes},

    Live({"enrichment.meta_dt", kEnrichment<&EnrichmentOptions::meta_dt>,
     "When the receive time is put into the field of dt_field."}),
    Live({"enrichment.meta_id", kEnrichment<&EnrichmentOptions::meta_id>,
     "When a new UUID is put into the field of id_field.", kFromMissing}),
    Live({"enrichment.client_ip", kEnrichment<&EnrichmentOptions::client_ip>,
     "Whether http.client_ip is set where the schema declares it."}),
    Live({"enrichment.request_headers", kEnrichment<&EnrichmentOptions::request_headers>,
     "Fields that are filled from request headers ({field: header}) for streams that do not say themselves."}),
    Live({"error_stream", kEnrichment<&EnrichmentOptions::error_stream>,
     "Stream that gets an error event for each invalid event; empty: none.",
     0, 0, Notation::kPlain, "sluice-main.error.validation"}),

    {"refused.keep", &In<&Config::refused, &RefusedOptions::keep>,
     "How many of the last events of each stream that were not accepted are kept in memory, to be seen at /-/refused "
     "on the admin listener and on its status page; 0: none.", 0, 10'000},
    {"refused.max_streams", &In<&Config::refused, &RefusedOptions::max_streams>,
     "Streams for which they are kept; above, the one that had none for longest is forgotten.", 1, 100'000},
    Live({"refused.max_event_bytes", &In<&Config::refused, &RefusedOptions::max_event_bytes>,
     "How much of such an event is shown, and of one that is tapped.", 0, kMiB, Notation::kBytes}),
    Live({"refused.mask", &In<&Config::refused, &RefusedOptions::mask>,
     "Fields whose values are never shown there, by their paths; a path goes through arrays as if they were not there. "
     "An object as a whole: its own path.", 0, 0, Notation::kPlain,
     "[http.client_ip, http.request_headers, meta.domain]"}),
    {"tap.max_clients", &In<&Config::tap, &TapOptions::max_clients>,
     "Clients that may watch events go by at one time (/-/tap on the admin listener, `sluice tap`); 0: nobody may.",
     0, 32},
    {"tap.max_events_per_second", &In<&Config::tap, &TapOptions::max_events_per_second>,
     "Events a second that such a client is sent at most; how many were left out is told in between.", 1, 10'000},
});

// Those of config_table_output.cc stand between.
const auto kKeysBehind = std::to_array<ConfigKey>({
    {"metrics.eventgate_names", &In<&Config::metrics, &MetricOptions::eventgate_names>,
     "Whether the original's metric names (eventgate_*, express_router_*) are kept beside sluice_*."},
    {"metrics.max_label_values", &In<&Config::metrics, &MetricOptions::max_label_values>,
     "Pairs of stream and schema with metrics of their own; further ones share the label _other.", 1, 1'000'000},
    Live({"logging.level", &In<&Config::log, &LogOptions::level>,
     "Least level that is written; `sluice log-level` changes it at run time."}),
    Live({"logging.format", &In<&Config::log, &LogOptions::format>,
     "text: for people. json: one JSON object a line. journald: the same with journald's priority before it. auto: "
     "text where stderr is a terminal, else json."}),
    Live({"logging.per_kind_per_second", &In<&Config::log, &LogOptions::per_kind_per_second>,
     "Log lines of one kind a second; what is above is counted in the next one.", 1, 1'000'000}),
    Live({"shutdown.not_ready_delay", kShutdown<&ShutdownOptions::not_ready_delay>,
     "How long to go on serving after SIGTERM while /readyz says no, so that balancers notice.", 0, kHour}),
    Live({"shutdown.deadline", kShutdown<&ShutdownOptions::deadline>,
     "Longest time from SIGTERM to the end, flush included. Below the supervisor's own (systemd: 90 s).",
     100, kHour}),
    Live({"canary.datacenters", &In<&Config::canary, &CanaryOptions::datacenters>,
     "For `sluice streams canary`: the datacenters that each canary event is posted to.",
     0, 0, Notation::kPlain, "[eqiad, codfw]"}),
    Live({"canary.services", &In<&Config::canary, &CanaryOptions::services>,
     "URLs to post to, by the stream's destination_event_service and the datacenter (<service>-<datacenter>).",
     0, 0, Notation::kPlain,
     "{sluice-main-eqiad: \"http://127.0.0.1:8888/v1/events\", "
     "sluice-main-codfw: \"http://127.0.0.1:8888/v1/events\"}"}),
    Live({"canary.timeout", &In<&Config::canary, &CanaryOptions::timeout>,
     "Longest time for one of these POSTs.", 10, kHour}),
});
// clang-format on

}  // namespace

std::span<const ConfigKey> ConfigKeys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> all(kKeysBefore.begin(), kKeysBefore.end());
    const auto output = OutputKeys();
    all.insert(all.end(), output.begin(), output.end());
    all.insert(all.end(), kKeysBehind.begin(), kKeysBehind.end());
    return all;
  }();
  return keys;
}

const ConfigKey* FindKey(std::string_view name) {
  const auto found = std::find_if(ConfigKeys().begin(), ConfigKeys().end(),
                                  [&](const ConfigKey& key) { return key.name == name; });
  return found == ConfigKeys().end() ? nullptr : &*found;
}

const ConfigKey* FindKeyOfEntry(std::string_view name, std::string_view& entry) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (!std::holds_alternative<Member<core::StringPairs>>(key.target)) continue;
    if (name.size() <= key.name.size() + 1 || !name.starts_with(key.name) ||
        name[key.name.size()] != '.')
      continue;
    entry = name.substr(key.name.size() + 1);
    return &key;
  }
  return nullptr;
}

bool IsSection(std::string_view name) {
  return std::any_of(ConfigKeys().begin(), ConfigKeys().end(), [&](const ConfigKey& key) {
    return key.name.size() > name.size() && key.name.starts_with(name) &&
           key.name[name.size()] == '.';
  });
}

}  // namespace sluice::daemon
