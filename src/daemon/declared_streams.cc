#include "daemon/declared_streams.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "intake/admin_declared.h"
#include "registry/latest_schema.h"

namespace sluice::daemon {
namespace {

constexpr std::string_view kJournal = "/declared-streams.journal";
constexpr std::string_view kAudit = "/declared-streams.audit.ndjson";

streams::DeclaredStore::Parts StoreParts(const DeclaredStreams::Parts& parts) {
  const std::string& folder = parts.config.output.data_dir;
  streams::StreamRegistry& streams = parts.streams;
  return {parts.clock,
          streams::MakeDurableFile(folder + std::string(kJournal)),
          streams::MakeDurableFile(folder + std::string(kAudit)),
          [&streams](std::vector<streams::DeclaredStream> declared) {
            return streams.SetDeclared(std::move(declared));
          },
          [&streams](std::string_view name) -> std::optional<std::string> {
            const auto snapshot = streams.Current();
            const auto* entry = snapshot ? snapshot->Find(name) : nullptr;
            if (!entry || entry->declared) return std::nullopt;
            return entry->key;
          },
          static_cast<std::size_t>(parts.config.declared_streams.max_streams)};
}

core::Result<void> CheckSchema(const DeclaredStreams::Parts& parts, const std::string& title) {
  registry::SchemaRegistry& schemas = parts.schemas;
  const auto schema =
      registry::LoadLatestSchema(parts.config.schemas, title,
                                 [&schemas](const std::string& uri, registry::SchemaCallback done) {
                                   schemas.Get(uri, std::move(done));
                                 });
  if (!schema.has_value()) return schema.error();
  return {};
}

}  // namespace

DeclaredStreams::DeclaredStreams(const Parts& parts)
    : tokens_(parts.config.declared_streams.tokens_file),
      has_stream_config_(parts.streams.configured()),
      store_(StoreParts(parts)),
      routes_(std::make_unique<intake::DeclaredRoutes>(intake::DeclaredRoutes::Parts{
          store_, tokens_, parts.clock, [parts] { return parts.streams.Current(); },
          [parts](const std::string& title) { return CheckSchema(parts, title); },
          parts.config.streams.topic_prefix, parts.config.declared_streams.max_bytes})) {}

DeclaredStreams::~DeclaredStreams() { Stop(); }

core::Result<void> DeclaredStreams::Start() {
  if (!has_stream_config_) {
    return core::Error{core::ErrorCode::kStreamConfigUnavailable,
                       "declared_streams.tokens_file needs a stream configuration to add streams "
                       "to: set stream_config, which may be an empty map"};
  }
  if (auto loaded = tokens_.Load(); !loaded.has_value()) return loaded;
  return store_.Start();
}

void DeclaredStreams::AddTo(intake::AdminServer& admin) {
  for (intake::AdminRoute& route : routes_->Routes()) admin.AddRoute(std::move(route));
}

void DeclaredStreams::AddGauges(core::Metrics& metrics) {
  metrics.AddGauge("sluice_declared_streams", "Streams that are declared at run time",
                   [this] { return static_cast<double>(store_.size()); });
  metrics.AddGauge("sluice_declared_streams_trouble",
                   "1 if the last change could not be made durable or the journal was damaged",
                   [this] { return store_.trouble().empty() ? 0.0 : 1.0; });
}

void DeclaredStreams::Stop() { store_.Stop(); }

}  // namespace sluice::daemon
