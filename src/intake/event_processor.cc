#include "intake/event_processor.h"

#include <algorithm>

#include "core/iso_time.h"
#include "core/json_text.h"
#include "intake/error_event.h"
#include "streams/stream_check.h"
#include "validate/json_string.h"

namespace sluice::intake {
namespace {

using core::ErrorCode;
using validate::Document;
using validate::Kind;
using validate::Node;

// A stream's name where none is configured to be read: the schema URI, with what topics cannot have
// replaced.
std::string SanitisedUri(std::string_view uri) {
  std::string name(uri);
  for (char& c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '.' || c == '-';
    if (!kept) c = '_';
  }
  name.erase(0, name.find_first_not_of('_'));
  return name;
}

std::string_view StringAt(const Document& document, const Node* root,
                          const validate::FieldPath& path) {
  const Node* value = path.Find(document, root);
  return value != nullptr && value->kind() == Kind::kString ? document.String(*value)
                                                            : std::string_view();
}

core::Error MissingField(ErrorCode code, std::string_view field) {
  return {code, "Field(s) " + std::string(field) +
                    " were missing from event and could not be extracted."};
}

}  // namespace

EventProcessor::EventProcessor(const Parts& parts)
    : config_(parts.config),
      producer_(parts.producer),
      metrics_(parts.metrics),
      watch_(parts.watch),
      rates_(parts.rates),
      stream_field_(config_.streams.stream_field),
      dt_field_(config_.streams.dt_field),
      id_field_(config_.streams.id_field) {
  std::string names;
  for (const std::string& field : config_.schemas.uri_fields) {
    schema_uri_fields_.emplace_back(field);
    names += names.empty() ? field : "," + field;
  }
  missing_schema_text_ = MissingField(ErrorCode::kMissingSchemaUri, names).message;
}

EventAddress EventProcessor::AddressOf(const Document& document, const Node* root,
                                       const RequestFacts& facts) {
  EventAddress address;
  const Node* schema = nullptr;
  for (const auto& field : schema_uri_fields_) {
    schema = field.Find(document, root);
    if (schema != nullptr && schema->kind() != Kind::kNull) break;
    schema = nullptr;
  }
  if (schema == nullptr) {
    address.schema_uri =
        root->kind() == Kind::kObject ? facts.schema_uri_default : std::string_view();
    if (address.schema_uri.empty())
      address.error = {ErrorCode::kMissingSchemaUri, missing_schema_text_};
  } else if (schema->kind() != Kind::kString) {
    address.error = {ErrorCode::kSchemaUriNotAllowed,
                     "The event's schema URI must be a string such as /test/event/1.0.0, but is " +
                         std::string(document.Text(*schema).substr(0, 100))};
  } else {
    address.schema_uri = document.String(*schema);
  }
  if (stream_field_.empty()) {
    derived_stream_ = SanitisedUri(address.schema_uri);
    address.stream = derived_stream_;
    return address;
  }
  address.stream = StringAt(document, root, stream_field_);
  if (address.stream.empty() && stream_field_.Find(document, root) == nullptr)
    address.stream = facts.stream_default;
  return address;
}

std::string EventProcessor::EventJson() const {
  std::string json;
  event_.AppendTo(json);
  return json;
}

// Adds what the client left to us: query parameters first, since without them there is no schema.
void EventProcessor::Complete(const EventInput& input, const RequestScope& scope) {
  if (event_.root()->kind() != Kind::kObject) return;
  const RequestFacts& facts = scope.facts;
  if (!facts.schema_uri_default.empty() && !schema_uri_fields_.empty()) {
    std::string json;
    core::AppendJsonString(json, facts.schema_uri_default);
    SetField(event_, schema_uri_fields_.front(), json, Replace::kKeep);
  }
  if (!facts.stream_default.empty() && !stream_field_.empty()) {
    std::string json;
    core::AppendJsonString(json, facts.stream_default);
    SetField(event_, stream_field_, json, Replace::kKeep);
  }
  if (input.route != nullptr) input.route->enrichment.Apply(facts, uuids_, event_);
}

void EventProcessor::Process(const EventInput& input, const RequestScope& scope) {
  event_.Load(scope.document, input.node);
  Complete(input, scope);
  if (input.address.error) return Fail(*input.address.error, input, scope);
  if (scope.snapshot != nullptr && (input.route == nullptr || !input.route->allowed)) {
    const auto checked = CheckStream(input, scope.snapshot);
    if (!checked.has_value()) return Fail(checked.error(), input, scope);
  }
  if (input.route == nullptr) return Fail(*input.schema_error, input, scope);
  if (rates_ != nullptr && rates_->limits_streams() && !TakeFromStream(input, scope)) return;

  switch (validator_.Validate(*input.route->schema, event_)) {
    case validate::Verdict::kValid:
      return Accept(input, scope);
    case validate::Verdict::kInvalid:
      return FailValidation(input, scope);
    case validate::Verdict::kExhausted:
      return Fail({ErrorCode::kSchemaUnusable, std::string(validator_.message())}, input, scope);
  }
}

// Before validation, which is what costs.
bool EventProcessor::TakeFromStream(const EventInput& input, const RequestScope& scope) {
  if (scope.job.own_events || input.address.stream.empty()) return true;
  RateAmounts amounts;
  amounts.events = 1;
  amounts.bytes = scope.document.Text(scope.document.nodes[input.node]).size();
  auto too_fast = rates_->TakeStream(input.address.stream, amounts);
  if (!too_fast) return true;
  Fail(std::move(too_fast->error), input, scope, too_fast->retry_after_seconds);
  return false;
}

core::Result<void> EventProcessor::CheckStream(const EventInput& input,
                                               const streams::StreamSnapshot* snapshot) const {
  const EventAddress& address = input.address;
  if (address.stream.empty()) return MissingField(ErrorCode::kStreamMissing, stream_field_.text());
  const streams::EventIdentity identity{StringAt(event_.document(), event_.root(), id_field_),
                                        address.schema_uri, address.stream};
  const streams::StreamSettings* settings = snapshot->Find(address.stream);
  const auto configured = streams::CheckConfigured(identity, settings);
  if (!configured.has_value() || input.route == nullptr) return configured;
  return streams::CheckSchemaTitle(identity, *settings, input.route->schema->title());
}

core::Result<void> EventProcessor::OpenTopic(Route& route) {
  const auto max = static_cast<std::size_t>(config_.limits.max_topics);
  if (route.topic_limit != nullptr && !route.topic_limit->Admit(route.topic_name, max)) {
    return core::Error{ErrorCode::kOverloaded,
                       "Topic " + route.topic_name + " would be one more than the " +
                           std::to_string(max) +
                           " that names from clients may open: raise limits.max_topics, or give "
                           "its stream an entry of its own in the stream configuration."};
  }
  route.topic = producer_.OpenTopic(route.topic_name);
  return {};
}

void EventProcessor::Accept(const EventInput& input, const RequestScope& scope) {
  if (input.address.stream.empty()) {
    return Fail(MissingField(ErrorCode::kStreamMissing, stream_field_.text()), input, scope);
  }
  Route& route = *input.route;
  std::string& bytes = scope.job.bytes;
  IngestJob::Accepted accepted;
  accepted.event = input.index;
  accepted.key_begin = static_cast<std::uint32_t>(bytes.size());
  if (!route.key.empty()) {
    const auto key = route.key.AppendTo(event_.document(), event_.root(), bytes);
    if (!key.has_value()) {
      bytes.resize(accepted.key_begin);
      return Fail(key.error(), input, scope);
    }
  }
  if (route.topic == nullptr) {
    const auto opened = OpenTopic(route);
    if (!opened.has_value()) {
      bytes.resize(accepted.key_begin);
      return Fail(opened.error(), input, scope);
    }
  }
  accepted.key_end = accepted.value_begin = static_cast<std::uint32_t>(bytes.size());
  if (scope.document.has_blanks) {  // records are compact, one line each
    compact_.clear();
    event_.AppendTo(compact_);
    validate::AppendWithoutBlanks(compact_, bytes);
  } else {
    event_.AppendTo(bytes);
  }
  accepted.value_end = static_cast<std::uint32_t>(bytes.size());
  if (watch_ != nullptr && !scope.job.own_events && watch_->WantsAccepted(route.stream)) {
    const auto slot = static_cast<std::uint32_t>(scope.job.accepted.size());
    scope.job.watched.push_back({slot, route.stream, route.schema_uri});
  }
  accepted.topic = route.topic;
  accepted.counters = route.counters;
  accepted.timestamp_ms =
      route.dt_is_now
          ? scope.now_ms
          : core::ParseIsoTimeMs(StringAt(event_.document(), event_.root(), dt_field_)).value_or(0);
  scope.job.accepted.push_back(accepted);
}

void EventProcessor::Fail(core::Error error, const EventInput& input, const RequestScope& scope,
                          int retry_after_seconds) {
  const bool known =
      scope.snapshot == nullptr || (input.route != nullptr && input.route->settings != nullptr);
  metrics_.CountFailure(input.address.stream, input.address.schema_uri,
                        known && input.route != nullptr, error.code);
  if (input.route != nullptr)
    input.route->counters->events[static_cast<int>(DispositionOf(error.code))]->Increment();
  EventFailure failure;
  failure.code = error.code;
  failure.event_json = EventJson();
  failure.message = std::move(error.message);
  failure.retry_after_seconds = retry_after_seconds;
  AddFailure(std::move(failure), input, scope);
}

void EventProcessor::FailValidation(const EventInput& input, const RequestScope& scope) {
  metrics_.CountFailure(input.address.stream, input.address.schema_uri, true,
                        ErrorCode::kValidationFailed);
  input.route->counters->events[static_cast<int>(core::Disposition::kRefused)]->Increment();
  EventFailure failure;
  failure.code = ErrorCode::kValidationFailed;
  failure.invalid = true;
  failure.event_json = EventJson();
  validator_.AppendErrorsJson(failure.errors_json);
  validator_.AppendErrorsText(failure.message);
  if (!config_.enrichment.error_stream.empty() && !scope.job.own_events) {
    error_events_.push_back(
        MakeErrorEvent(config_, event_, failure, input.address, scope.facts.now_json));
  }
  AddFailure(std::move(failure), input, scope);
}

// What a failure takes, itself and in the answer, is charged to its request.
void EventProcessor::AddFailure(EventFailure&& failure, const EventInput& input,
                                const RequestScope& scope) {
  IngestJob& job = scope.job;
  if (watch_ != nullptr && !job.own_events) {
    if (job.failed.empty()) {
      job.failed_stream = input.address.stream;
      job.failed_schema_uri = input.address.schema_uri;
    }
    const bool configured =
        scope.snapshot != nullptr && scope.snapshot->Find(input.address.stream) != nullptr;
    watch_->OnFailure(
        {input.address.stream, input.address.schema_uri, job.request_id, failure.event_json,
         configured ? RefusedEvents::StreamIs::kConfigured : RefusedEvents::StreamIs::kMadeUp},
        failure);
  }
  const std::uint64_t bytes =
      2 * (failure.event_json.size() + failure.errors_json.size() + failure.message.size()) +
      sizeof(IngestJob::Failed) + 200;
  if (job.permit && !job.permit.Charge(bytes)) job.out_of_memory = true;
  job.failed.push_back({input.index, std::move(failure)});
}

}  // namespace sluice::intake
