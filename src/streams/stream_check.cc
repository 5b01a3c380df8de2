#include "streams/stream_check.h"

namespace sluice::streams {
namespace {

std::string Refusal(const EventIdentity& event, std::string_view why) {
  std::string text = Describe(event);
  text += " is not allowed in stream; ";
  text += why;
  return text;
}

core::Error NotConfigured(const EventIdentity& event, std::string_view why) {
  std::string text(event.stream.empty() ? "unknown" : event.stream);
  text += why;
  return {core::ErrorCode::kStreamNotConfigured, Refusal(event, text)};
}

}  // namespace

std::string Describe(const EventIdentity& event) {
  std::string text = "event ";
  if (!event.id.empty()) {
    text += event.id;
    text += ' ';
  }
  text += "of schema at ";
  text += event.schema_uri.empty() ? "unknown" : event.schema_uri;
  text += " destined to stream ";
  text += event.stream.empty() ? "unknown" : event.stream;
  return text;
}

core::Result<void> CheckConfigured(const EventIdentity& event, const StreamSettings* settings) {
  if (!settings) return NotConfigured(event, " is not configured.");
  if (!settings->has_settings) {
    return NotConfigured(event, " is configured but does not have any settings.");
  }
  // JavaScript's truth: an empty title is none.
  if (!settings->schema_title || settings->schema_title->empty()) {
    return NotConfigured(event, " does not have a schema_title setting.");
  }
  return {};
}

core::Result<void> CheckSchemaTitle(const EventIdentity& event, const StreamSettings& settings,
                                    const std::optional<std::string>& schema_title) {
  if (!schema_title || schema_title->empty()) {
    return core::Error{core::ErrorCode::kStreamSchemaMismatch,
                       "Schema at " + std::string(event.schema_uri) +
                           " must define a 'title' field. From " + Describe(event)};
  }
  if (*schema_title != settings.schema_title) {
    return core::Error{
        core::ErrorCode::kStreamSchemaMismatch,
        Refusal(event, "schema title must be " + settings.schema_title.value_or("") + ".")};
  }
  return {};
}

core::Error ConfigUnavailable(const EventIdentity& event, std::string_view reason) {
  return {core::ErrorCode::kStreamConfigUnavailable,
          Refusal(event, "got error when fetching stream config: " + std::string(reason))};
}

}  // namespace sluice::streams
