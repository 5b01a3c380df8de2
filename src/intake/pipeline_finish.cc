// The end of a job: delivery reports, deadlines, the answer, error events.
#include <algorithm>
#include <array>
#include <utility>

#include "core/log.h"
#include "core/loggable.h"
#include "intake/pipeline_impl.h"
#include "intake/request_log.h"

namespace sluice::intake {
namespace {

using core::Disposition;
using core::ErrorCode;
using produce::DeliverySlot;

constexpr std::size_t kMaxOwnJobs = 1000;   // error events under way
constexpr std::size_t kMaxBacklog = 20000;  // that wait behind them; more are dropped and logged

}  // namespace

// On the thread of the last delivery report. Inside Launch, which goes on to Finish, it is only
// noted.
void EventPipeline::Impl::OnDone(IngestJob& job, void* impl) {
  auto* self = static_cast<Impl*>(impl);
  if (std::this_thread::get_id() == self->thread_ && self->launching_ == &job) {
    job.done_inline = true;
    return;
  }
  self->parts_.post([self, &job] { self->Finish(job); });
}

void EventPipeline::Impl::CollectDeliveries(IngestJob& job) {
  std::size_t delivered = 0;
  std::array<std::size_t, core::kDurabilityCount> rests_on{};
  for (std::uint32_t i = 0; i < job.size(); ++i) {
    const DeliverySlot& slot = job.slot(i);
    const auto& accepted = job.accepted[i];
    const DeliverySlot::State state = slot.state();
    if (state == DeliverySlot::State::kDelivered) {
      ++delivered;
      job.durability = std::min(job.durability, slot.durability);
      ++rests_on[static_cast<std::size_t>(slot.durability)];
      const Disposition how = job.mode == produce::DeliveryMode::kHasty
                                  ? Disposition::kHastilyAccepted
                                  : Disposition::kAcknowledged;
      accepted.counters->events[static_cast<int>(how)]->Increment();
      continue;
    }
    EventFailure failure;
    if (state == DeliverySlot::State::kFailed) {
      failure.code = slot.code;
      failure.message = slot.message;
      failure.is_final = failure.code == ErrorCode::kTopicUnknown &&
                         config_->output.kafka.topics.policy == core::TopicPolicy::kRequire;
    } else {
      failure.code = ErrorCode::kDeliveryTimeout;
      failure.message = "No delivery report within " +
                        std::to_string(config_->limits.delivery_timeout.count()) +
                        " ms (limits.delivery_timeout); the event may still be delivered.";
    }
    failure.event_json = job.RecordOf(accepted).value;
    parts_.metrics.CountFailure(accepted.counters->stream, accepted.counters->schema_uri, true,
                                failure.code);
    accepted.counters->events[static_cast<int>(DispositionOf(failure))]->Increment();
    TellOfFailure(job, accepted, failure);
    job.failed.push_back({accepted.event, std::move(failure)});
  }
  if (!job.watched.empty()) TellOfDelivered(job);
  CountEnds(job, delivered);
  if (job.own_events || job.mode == produce::DeliveryMode::kHasty) return;
  for (std::size_t i = 0; i < rests_on.size(); ++i) {
    if (rests_on[i] > 0) parts_.metrics.EventsRestOn(static_cast<core::Durability>(i), rests_on[i]);
  }
}

void EventPipeline::Impl::TellOfDelivered(const IngestJob& job) {
  for (const IngestJob::Watched& watched : job.watched) {
    const auto& accepted = job.accepted[watched.slot];
    if (job.slot(watched.slot).state() != DeliverySlot::State::kDelivered) continue;
    watch_->OnAccepted(
        {watched.stream, watched.schema_uri, job.request_id, job.RecordOf(accepted).value},
        job.mode == produce::DeliveryMode::kHasty ? Disposition::kHastilyAccepted
                                                  : Disposition::kAcknowledged);
  }
}

// The event was valid, so its stream is known, if only as one of many (label _other).
void EventPipeline::Impl::TellOfFailure(IngestJob& job, const IngestJob::Accepted& accepted,
                                        const EventFailure& failure) {
  if (job.own_events) return;
  if (job.failed.empty()) {
    job.failed_stream = accepted.counters->stream;
    job.failed_schema_uri = accepted.counters->schema_uri;
  }
  watch_->OnFailure({accepted.counters->stream, accepted.counters->schema_uri, job.request_id,
                     failure.event_json},
                    failure);
}

void EventPipeline::Impl::CountEnds(const IngestJob& job, std::size_t delivered) {
  if (job.own_events) return;
  std::size_t refused = 0;
  for (const auto& failed : job.failed)
    refused += DispositionOf(failed.failure) == Disposition::kRefused ? 1 : 0;
  const bool hasty = job.mode == produce::DeliveryMode::kHasty;
  if (delivered > 0) {
    parts_.metrics.EventsEnded(hasty ? Disposition::kHastilyAccepted : Disposition::kAcknowledged,
                               delivered);
  }
  if (refused > 0) parts_.metrics.EventsEnded(Disposition::kRefused, refused);
  if (job.failed.size() > refused) {
    if (hasty) parts_.metrics.HastyLost(job.failed.size() - refused);
    parts_.metrics.EventsEnded(Disposition::kFailed, job.failed.size() - refused);
  }
}

void EventPipeline::Impl::Finish(IngestJob& job) {
  const std::unique_ptr<IngestJob> owned(&job);
  if (job.timed_out) return;
  Unlink(job);
  EndStage(job, core::Stage::kDeliver);
  CollectDeliveries(job);
  Answer(job);
  if (!job.own_events) return;
  --own_jobs_;
  if (!backlog_.empty()) {
    ErrorEvent next = std::move(backlog_.front());
    backlog_.pop_front();
    SendErrorEvent(std::move(next));
  }
  for (const auto& failed : job.failed) {
    core::Log(
        core::LogLevel::kError, "error_event_failed", "An error event could not be produced.",
        {{"reason", core::ToString(failed.failure.code)}, {"detail", failed.failure.message}});
  }
}

void EventPipeline::Impl::Answer(IngestJob& job) {
  if (!job.failed.empty() && !job.own_events && core::LogEnabled(core::LogLevel::kWarn)) {
    const EventFailure& first = job.failed.front().failure;
    core::Log(core::LogLevel::kWarn, core::ToString(first.code),
              "Events of a request were not accepted.",
              {{"events", static_cast<std::int64_t>(job.events)},
               {"failed", static_cast<std::int64_t>(job.failed.size())},
               {"stream", core::LoggableName(job.failed_stream)},
               {"schema_uri", core::LoggableName(job.failed_schema_uri)},
               {"request_id", core::LoggableName(job.request_id)},
               {"trace_id", job.trace_id},
               {"first", LoggableMessage(first.code, first.message)}});
  }
  if (!job.sink) return;
  // Failures of the pipeline came first, those of delivery after: the lists go by event.
  std::stable_sort(job.failed.begin(), job.failed.end(),
                   [](const auto& a, const auto& b) { return a.event < b.event; });
  std::vector<const EventFailure*> failures;
  failures.reserve(job.failed.size());
  for (const auto& failed : job.failed) failures.push_back(&failed.failure);
  IngestReply reply = ReplyToEvents(job.events, failures, job.durability);
  const bool for_room = std::any_of(failures.begin(), failures.end(), [](const auto* failure) {
    return failure->code == ErrorCode::kQueueFull || failure->code == ErrorCode::kDeliveryTimeout;
  });
  if (reply.retry_after_seconds && for_room) reply.retry_after_seconds = DrainSeconds(job.mode);
  Reply(job, std::move(reply));
}

int EventPipeline::Impl::DrainSeconds(produce::DeliveryMode mode) const {
  return static_cast<int>(parts_.producer.DrainTime(mode).count());
}

// Before anything of the request is looked at: what cannot be produced need not be validated.
void EventPipeline::Impl::RefuseForRoom(IngestJob& job) {
  const core::Error error{
      ErrorCode::kQueueFull,
      std::string("The queue to Kafka is filled as far as ") +
          (job.mode == produce::DeliveryMode::kHasty ? "hasty events may (kafka.admit.hasty)."
                                                     : "events may (kafka.admit.guaranteed).")};
  parts_.metrics.CountFailure({}, {}, false, error.code);
  IngestReply reply = ReplyToFailedRequest(error);
  reply.retry_after_seconds = DrainSeconds(job.mode);
  Reply(job, std::move(reply));
}

void EventPipeline::Impl::Refuse(IngestJob& job, const core::Error& error) {
  parts_.metrics.CountFailure({}, {}, false, error.code);
  if (!job.own_events) watch_->OnRefusedRequest(error, job.request_id, job.body_bytes);
  Reply(job, ReplyToFailedRequest(error));
}

void EventPipeline::Impl::Reply(IngestJob& job, IngestReply&& reply) {
  if (!job.sink) return;
  const std::shared_ptr<ReplySink> sink = std::move(job.sink);
  sink->OnReply(std::move(reply));
}

// Only requests that somebody waits for have a deadline; it runs from the first time that they
// wait.
void EventPipeline::Impl::Link(IngestJob& job) {
  if (!job.sink) return;
  if (job.deadline == std::chrono::steady_clock::time_point{}) {
    job.deadline = std::chrono::steady_clock::now() + config_->limits.delivery_timeout;
  }
  IngestJob* before = last_;
  while (before != nullptr && before->deadline > job.deadline) before = before->previous;
  job.linked = true;
  job.previous = before;
  job.next = before != nullptr ? before->next : first_;
  (job.previous != nullptr ? job.previous->next : first_) = &job;
  (job.next != nullptr ? job.next->previous : last_) = &job;
}

void EventPipeline::Impl::Unlink(IngestJob& job) {
  if (!job.linked) return;
  (job.previous != nullptr ? job.previous->next : first_) = job.next;
  (job.next != nullptr ? job.next->previous : last_) = job.previous;
  job.previous = job.next = nullptr;
  job.linked = false;
}

void EventPipeline::Impl::Tick(std::chrono::steady_clock::time_point now) {
  watch_->Tick(now);
  while (first_ != nullptr && first_->deadline <= now) TimeOut(*first_);
}

void EventPipeline::Impl::TimeOut(IngestJob& job) {
  Unlink(job);
  job.timed_out = true;
  if (job.launched) {
    CollectDeliveries(job);
    Answer(job);
    return;
  }
  parts_.metrics.EventsEnded(Disposition::kFailed, job.events);
  Refuse(job, {ErrorCode::kSchemaUnavailable,
               "A schema could not be loaded within limits.delivery_timeout."});
}

std::string_view EventPipeline::Impl::ErrorSchemaUri() const {
  return old_error_schema_ ? kOldErrorSchema : kErrorSchema;
}

void EventPipeline::Impl::SendErrorEvents() {
  for (ErrorEvent& event : processor_->TakeErrorEvents()) SendErrorEvent(std::move(event));
}

// Through the same pipeline, on trust: nobody waits for it.
void EventPipeline::Impl::SendErrorEvent(ErrorEvent&& event) {
  if (own_jobs_ >= kMaxOwnJobs) {
    if (backlog_.size() < kMaxBacklog) return backlog_.push_back(std::move(event));
    core::Log(core::LogLevel::kWarn, "error_event_dropped",
              "Too many error events wait to be produced.");
    return;
  }
  std::string text = event.Text(ErrorSchemaUri());
  const std::size_t size = text.size();
  text.resize(size + validate::kReadPadding);
  RequestFacts facts;
  facts.now_json = now_json_;
  auto job = std::make_unique<IngestJob>(&OnDone, this);
  job->own_events = true;
  job->mode = produce::DeliveryMode::kHasty;  // so that the spool keeps it
  job->error_event = std::move(event);
  ++own_jobs_;
  if (!Parse(std::string_view(text).substr(0, size), BodyKind::kJson, *job)) {
    --own_jobs_;
    return;
  }
  Run(std::move(job), facts, now_ms_, nullptr);
}

}  // namespace sluice::intake
