#include "intake/event_pipeline.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "core/iso_time.h"
#include "core/log.h"
#include "intake/pipeline_impl.h"

namespace sluice::intake {
namespace {

constexpr std::uint64_t kPlanBytes =
    sizeof(EventInput) + 128;  // and the names of events without a route

}  // namespace

using core::ErrorCode;
using validate::Kind;
using validate::Node;

EventPipeline::EventPipeline(Parts parts) : impl_(std::make_shared<Impl>(std::move(parts))) {}
EventPipeline::~EventPipeline() = default;

void EventPipeline::Process(IngestRequest&& request, std::shared_ptr<ReplySink> sink) {
  impl_->Process(std::move(request), std::move(sink));
}

void EventPipeline::Tick(std::chrono::steady_clock::time_point now) { impl_->Tick(now); }

void EventPipeline::NoteRefused(const core::Error& error, std::string_view request_id,
                                std::uint64_t body_bytes) {
  impl_->NoteRefused(error, request_id, body_bytes);
}

void EventPipeline::UseConfig(ConfigPtr config) { impl_->UseConfig(std::move(config)); }

EventPipeline::Impl::Impl(Parts parts)
    : parts_(std::move(parts)),
      config_(std::shared_ptr<void>(), &parts_.config),
      routes_(*config_, parts_.schemas, parts_.streams, parts_.metrics) {
  UseProcessor();
}

void EventPipeline::Impl::UseProcessor() {
  watch_.emplace(parts_.observers, *config_, parts_.clock);
  processor_.emplace(
      EventProcessor::Parts{*config_, parts_.producer, parts_.metrics, &*watch_, parts_.rates});
}

// Nothing is being processed now: requests that wait for a schema are planned anew when it is
// there.
void EventPipeline::Impl::UseConfig(ConfigPtr config) {
  const auto later = config->limits.delivery_timeout - config_->limits.delivery_timeout;
  for (IngestJob* job = first_; job != nullptr; job = job->next) job->deadline += later;
  routes_.Use(*config);
  const ConfigPtr replaced = std::exchange(config_, std::move(config));  // was used until here
  UseProcessor();
}

void EventPipeline::Impl::Process(IngestRequest&& request, std::shared_ptr<ReplySink> sink) {
  if (thread_ == std::thread::id{})
    thread_ = std::this_thread::get_id();  // read by others once records are under way
  RefreshNow();
  RequestFacts facts;
  facts.headers = request.headers;
  facts.request_id = request.request_id;
  facts.peer_address = request.peer_address;
  facts.peer_is_trusted = request.peer_is_trusted;
  facts.schema_uri_default = request.schema_uri_default;
  facts.stream_default = request.stream_default;
  facts.now_json = now_json_;
  auto job = std::make_unique<IngestJob>(&OnDone, this);
  job->sink = std::move(sink);
  job->permit = std::move(request.permit);
  job->mode = request.mode;
  job->request_id = request.request_id;
  job->trace_id = request.trace_id;
  job->body_bytes = request.body.size();
  job->stage_start = std::chrono::steady_clock::now();
  if (!parts_.producer.HasRoom(job->mode)) return RefuseForRoom(*job);
  if (!Parse(request.body, request.kind, *job) || !TakeFromClient(request.client, *job)) {
    ReleaseLargeTables(request.body.size(), *job);
    return;
  }
  Run(std::move(job), facts, now_ms_, nullptr);
  SendErrorEvents();
}

void EventPipeline::Impl::EndStage(IngestJob& job, core::Stage stage) {
  const auto now = std::chrono::steady_clock::now();
  if (!job.own_events) parts_.metrics.ObserveStage(stage, now - job.stage_start);
  job.stage_start = now;
}

void EventPipeline::Impl::RefreshNow() {
  const auto now = parts_.clock.Now();
  const std::int64_t ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  if (ms == now_ms_) return;
  now_ms_ = ms;
  now_json_ = '"' + core::FormatIsoTime(now) + '"';
}

// document_ holds the events. Everything that needs a schema happens at once, or, if some schema is
// not there yet, all of it later: then no event of the request overtakes another.
void EventPipeline::Impl::Run(JobPtr job, const RequestFacts& facts, std::int64_t now_ms,
                              StoredRequest* stored) {
  std::vector<std::string> missing;
  Plan(facts, stored, missing);
  if (stored == nullptr) {
    job->events = static_cast<std::uint32_t>(inputs_.size());
    if (!job->own_events) parts_.metrics.EventsReceived(job->events);
    if (job->mode == produce::DeliveryMode::kHasty) Reply(*job, ReplyToHasty(job->events));
    if (!missing.empty()) return Suspend(std::move(job), facts, now_ms, missing);
  }
  job->accepted.reserve(inputs_.size());
  const std::size_t body_bytes = document_.body.size();
  job->bytes.reserve(body_bytes + inputs_.size() * 160);
  const RequestScope scope{document_, facts, routes_.snapshot().get(), now_ms, *job};
  const std::uint64_t plan_bytes = inputs_.size() * kPlanBytes;
  job->out_of_memory = job->permit && !job->permit.Charge(plan_bytes);
  for (const EventInput& input : inputs_) {
    if (job->out_of_memory) break;
    processor_->Process(input, scope);
  }
  ReleaseLargeTables(body_bytes, *job);
  if (job->out_of_memory) {  // nothing was produced yet
    if (!job->own_events) parts_.metrics.EventsEnded(core::Disposition::kFailed, job->events);
    return Refuse(*job, {ErrorCode::kOverloaded,
                         "no memory left for what is to be told about the events of this request "
                         "(limits.memory_bytes)"});
  }
  if (job->permit) job->permit.Refund(plan_bytes);
  Launch(std::move(job));
}

// Finds each event's route; events without one get the reason, or their schema is added to
// `missing`.
void EventPipeline::Impl::Plan(const RequestFacts& facts, StoredRequest* stored,
                               std::vector<std::string>& missing) {
  static const core::Error kNotLoaded{ErrorCode::kInternal,
                                      "The schema was loaded and could not be found again."};
  inputs_.clear();
  owned_.clear();
  if (stored == nullptr) {
    routes_.Refresh();
  } else {
    routes_.GoBackTo(stored->snapshot);
  }
  std::unordered_map<std::string, bool> asked;
  const Node* const nodes = document_.nodes.data();
  const bool array = nodes[0].kind() == Kind::kArray;
  const std::uint32_t end = nodes[0].nodes();
  std::uint32_t index = 0;
  for (std::uint32_t at = array ? 1 : 0; at < end; at += nodes[at].nodes()) {
    EventInput input{at, index++, processor_->AddressOf(document_, nodes + at, facts), nullptr,
                     nullptr};
    EventAddress& address = input.address;
    if (!address.error) input.route = routes_.Find(address.schema_uri, address.stream);
    if (input.route != nullptr) {
      // The route's own copies: decoded text of the document moves when the event is completed.
      address.schema_uri = input.route->schema_uri;
      address.stream = input.route->stream;
    } else {
      address.schema_uri = owned_.emplace_back(address.schema_uri);
      address.stream = owned_.emplace_back(address.stream);
    }
    if (input.route == nullptr && !address.error) {
      const std::string& uri = owned_[owned_.size() - 2];
      if (stored == nullptr) {
        if (asked.emplace(uri, true).second) missing.push_back(uri);
      } else {
        const auto found = stored->schemas.find(uri);
        input.schema_error =
            found != stored->schemas.end() && found->second ? &*found->second : &kNotLoaded;
      }
    }
    inputs_.push_back(std::move(input));
  }
}

std::vector<std::string> EventPipeline::Impl::HeaderNames() const {
  std::vector<std::string> names = {"x-client-ip", "x-forwarded-for"};
  const auto add = [&](const core::StringPairs& fields) {
    for (const auto& [path, header] : fields) {
      std::string lower = header;
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      names.push_back(std::move(lower));
    }
  };
  add(config_->enrichment.request_headers);
  if (routes_.snapshot() != nullptr) {
    for (const EventInput& input : inputs_) {
      const streams::StreamSettings* settings = routes_.snapshot()->Find(input.address.stream);
      if (settings != nullptr && settings->header_fields) add(*settings->header_fields);
      if (names.size() > 1000) break;  // more than any configuration has; repeated by large batches
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void EventPipeline::Impl::Suspend(JobPtr job, const RequestFacts& facts, std::int64_t now_ms,
                                  const std::vector<std::string>& missing) {
  auto stored = std::make_shared<StoredRequest>(facts, document_.body, HeaderNames());
  stored->now_ms = now_ms;
  stored->snapshot = routes_.snapshot();
  ReleaseLargeTables(document_.body.size(), *job);
  if (job->permit && !job->permit.Charge(stored->body.size())) {
    parts_.metrics.EventsEnded(core::Disposition::kFailed, job->events);
    Refuse(*job, {ErrorCode::kOverloaded,
                  "no memory left to wait for a schema with this body (limits.memory_bytes)"});
    return;
  }
  EndStage(*job, core::Stage::kProcess);
  stored->job = std::move(job);
  stored->outstanding = missing.size();
  Link(*stored->job);
  for (const std::string& uri : missing) {
    // The callback may come at once, or from another thread: in either case on with it in a task of
    // its own.
    parts_.schemas.Get(
        uri, [self = shared_from_this(), stored, uri](core::Result<registry::SchemaPtr> result) {
          self->parts_.post([self, stored, uri, result = std::move(result)] {
            self->OnSchema(stored, uri, result);
          });
        });
  }
}

void EventPipeline::Impl::OnSchema(const std::shared_ptr<StoredRequest>& stored,
                                   const std::string& uri,
                                   const core::Result<registry::SchemaPtr>& result) {
  auto& entry = stored->schemas[uri];
  if (!result.has_value()) entry = result.error();
  if (--stored->outstanding > 0) return;
  if (stored->job->timed_out) {
    stored->job.reset();  // answered and counted when its time was over
    return;
  }
  EndStage(*stored->job, core::Stage::kSchema);
  Unlink(*stored->job);
  Resume(*stored);
  SendErrorEvents();
}

void EventPipeline::Impl::Resume(StoredRequest& stored) {
  RefreshNow();
  // It was read once already and is read the same way again; only the memory for its tables may be
  // gone.
  if (!Parse(stored.text(), BodyKind::kJson, *stored.job)) {
    if (stored.job->own_events) {
      --own_jobs_;
    } else {
      parts_.metrics.EventsEnded(core::Disposition::kFailed, stored.job->events);
    }
    return;
  }
  if (stored.job->own_events && !old_error_schema_) {
    const auto found = stored.schemas.find(std::string(kErrorSchema));
    if (found != stored.schemas.end() && found->second &&
        found->second->code == ErrorCode::kSchemaNotFound) {
      old_error_schema_ = true;  // from now on; this one is sent once more
      --own_jobs_;
      SendErrorEvent(std::move(*stored.job->error_event));
      return;
    }
  }
  Run(std::move(stored.job), stored.facts, stored.now_ms, &stored);
}

void EventPipeline::Impl::Launch(JobPtr owned) {
  IngestJob& job = *owned;
  if (job.permit && !job.permit.Charge(job.bytes.size())) {
    for (const auto& accepted : job.accepted) {
      EventFailure failure;
      failure.code = ErrorCode::kOverloaded;
      failure.event_json = job.RecordOf(accepted).value;
      failure.message = "no memory left for the records of this request (limits.memory_bytes)";
      accepted.counters->events[static_cast<int>(core::Disposition::kFailed)]->Increment();
      parts_.metrics.CountFailure(accepted.counters->stream, accepted.counters->schema_uri, true,
                                  failure.code);
      TellOfFailure(job, accepted, failure);
      job.failed.push_back({accepted.event, std::move(failure)});
    }
    job.accepted.clear();
  }
  job.Reserve(static_cast<std::uint32_t>(job.accepted.size()));
  job.launched = true;
  Link(job);
  static_cast<void>(owned.release());  // Finish deletes it
  // Its answer was given: it must not keep others out while Kafka is away, only its bytes may.
  if (job.mode == produce::DeliveryMode::kHasty) job.permit.LeavePlace();
  launching_ = &job;
  for (const auto& accepted : job.accepted) {
    if (accepted.counters->events_produced != nullptr)
      accepted.counters->events_produced->Increment();
    parts_.producer.Produce(*accepted.topic, job.mode, job.RecordOf(accepted), job.Add());
  }
  if (!job.accepted.empty()) parts_.producer.EndOfBatch();
  EndStage(job, core::Stage::kProcess);
  job.Seal();
  launching_ = nullptr;
  if (job.done_inline) Finish(job);
}

}  // namespace sluice::intake
