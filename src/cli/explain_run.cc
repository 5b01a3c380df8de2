#include "cli/explain_run.h"

#include <chrono>
#include <utility>

#include "intake/event_pipeline.h"
#include "registry/schema_loader.h"

namespace sluice::cli {
namespace {

// The address that stands for the client: RFC 5737 has it for examples.
constexpr std::string_view kClientAddress = "192.0.2.1";
constexpr std::string_view kRequestId = "00000000-0000-4000-8000-000000000000";

// Only what the event asks for is loaded; what is refused is told, not produced as an error event.
core::Config Quietly(core::Config config) {
  config.schemas.precache_all = false;
  config.schemas.precache_uris.clear();
  config.enrichment.error_stream.clear();
  return config;
}

validate::CompileOptions CompileOptionsOf(const core::SchemaOptions& options) {
  validate::CompileOptions compile;
  compile.formats =
      options.full_formats ? validate::FormatMode::kFull : validate::FormatMode::kFast;
  return compile;
}

class HeaderMap final : public intake::HeaderSource {
 public:
  explicit HeaderMap(const DryDaemon::Headers& headers) : headers_(headers) {}
  std::string_view Header(std::string_view lower_case_name) const override {
    const auto found = headers_.find(lower_case_name);
    return found == headers_.end() ? std::string_view() : std::string_view(found->second);
  }

 private:
  const DryDaemon::Headers& headers_;
};

}  // namespace

// Keeps the record that it is given.
class DryDaemon::Collector final : public produce::Producer {
 public:
  core::Result<void> Start() override { return {}; }
  produce::Topic* OpenTopic(std::string_view name) override {
    topics_.push_back(std::make_unique<NamedTopic>(name));
    return topics_.back().get();
  }
  void Produce(produce::Topic& topic, produce::DeliveryMode, const produce::Record& record,
               produce::DeliverySlot* slot) override {
    record_ = ProducedRecord{topic.name(), record.has_key ? std::string(record.key) : std::string(),
                             std::string(record.value), record.timestamp_ms};
    produce::Delivery::CompleteDelivered(slot, core::Durability::kNone);
  }
  std::uint64_t queued_bytes() const override { return 0; }
  std::uint64_t max_queued_bytes() const override { return 1; }
  produce::StopReport Stop(std::chrono::steady_clock::time_point) override { return {}; }

  std::optional<ProducedRecord> Take() { return std::exchange(record_, std::nullopt); }

 private:
  struct NamedTopic final : produce::Topic {
    explicit NamedTopic(std::string_view name) : Topic(name) {}
  };
  std::vector<std::unique_ptr<NamedTopic>> topics_;
  std::optional<ProducedRecord> record_;
};

class DryDaemon::Answer final : public intake::ReplySink {
 public:
  void OnReply(intake::IngestReply&& reply) override { reply_ = std::move(reply); }
  std::optional<intake::IngestReply>& reply() { return reply_; }

 private:
  std::optional<intake::IngestReply> reply_;
};

DryDaemon::DryDaemon(const core::Config& config)
    : error_stream_(config.enrichment.error_stream),
      config_(Quietly(config)),
      metrics_(config_.metrics, config_.service_name),
      streams_(config_.streams),
      schemas_(config_.schemas, metrics_,
               book_.Recording(registry::CompileWith(CompileOptionsOf(config_.schemas)))),
      producer_(std::make_unique<Collector>()),
      processor_({config_, *producer_, metrics_}) {}

DryDaemon::~DryDaemon() { schemas_.Stop(); }

core::Result<void> DryDaemon::Start() {
  if (streams_.configured()) {
    if (auto loaded = streams_.Load(); !loaded) return loaded;
  }
  return schemas_.Start();
}

void DryDaemon::Post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  posted_.notify_one();
}

bool DryDaemon::RunOne() {
  std::function<void()> task;
  {
    std::unique_lock lock(mutex_);
    posted_.wait_for(lock, std::chrono::milliseconds(100), [this] { return !tasks_.empty(); });
    if (tasks_.empty()) return false;
    task = std::move(tasks_.front());
    tasks_.pop_front();
  }
  task();
  return true;
}

DryRun DryDaemon::Process(std::string_view event, const Headers& headers) {
  intake::EventPipeline pipeline(
      intake::EventPipeline::Parts{config_, schemas_, streams_, *producer_, metrics_, clock_,
                                   [this](std::function<void()> task) { Post(std::move(task)); }});
  std::string body(event);
  body.resize(event.size() + validate::kReadPadding);
  const HeaderMap header_map(headers);
  const auto sink = std::make_shared<Answer>();
  intake::IngestRequest request;
  request.body = std::string_view(body).substr(0, event.size());
  request.headers = &header_map;
  request.request_id = header_map.Header("x-request-id");
  if (request.request_id.empty()) request.request_id = kRequestId;
  request.peer_address = kClientAddress;
  pipeline.Process(std::move(request), sink);
  while (!sink->reply()) {
    if (!RunOne()) pipeline.Tick(std::chrono::steady_clock::now());
  }
  return {std::move(*sink->reply()), producer_->Take()};
}

intake::EventAddress DryDaemon::AddressOf(const validate::Document& document,
                                          const validate::Node* root) {
  return processor_.AddressOf(document, root, {});
}

}  // namespace sluice::cli
