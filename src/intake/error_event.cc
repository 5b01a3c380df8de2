#include "intake/error_event.h"

#include "core/json_text.h"
#include "intake/event_processor.h"
#include "intake/reply.h"

namespace sluice::intake {
namespace {

using validate::Document;
using validate::Kind;
using validate::Node;

// A field of the failed event as text: "unknown" if absent, the value's JSON text if it is no
// string.
std::string AsText(const Document& document, const Node* object, std::string_view key) {
  const Node* value = object == nullptr ? nullptr : document.Find(object, key);
  if (value == nullptr) return "unknown";
  if (value->kind() == Kind::kString) return std::string(document.String(*value));
  return std::string(document.Text(*value));
}

void Member(std::string& out, std::string_view name, std::string_view value) {
  if (out.back() != '{' && !out.empty()) out += ',';
  core::AppendJsonString(out, name);
  out += ':';
  core::AppendJsonString(out, value);
}

}  // namespace

std::string ErrorEvent::Text(std::string_view error_schema_uri) const {
  std::string out = "{";
  Member(out, "$schema", error_schema_uri);
  if (error_schema_uri != kOldErrorSchema) {
    out += ",\"dt\":";
    out += now_json;
    Member(out, "error_type", "ValidationError");
  }
  out += ',';
  out += common;
  out += '}';
  return out;
}

ErrorEvent MakeErrorEvent(const core::Config& config, const validate::EditableEvent& event,
                          const EventFailure& failure, const EventAddress& address,
                          std::string_view now_json) {
  const Document& document = event.document();
  const Node* meta = document.Find(event.root(), "meta");
  std::string out = "\"meta\":{";
  Member(out, "stream", config.enrichment.error_stream);
  for (const char* field : {"uri", "domain", "request_id"})
    Member(out, field, AsText(document, meta, field));
  out += '}';
  Member(out, "emitter_id", config.user_agent);
  Member(out, "raw_event", failure.event_json);
  Member(out, "errored_schema_uri", address.schema_uri.empty() ? "unknown" : address.schema_uri);
  Member(out, "errored_stream_name", address.stream.empty() ? "unknown" : address.stream);
  Member(out, "message", failure.message);
  return {std::move(out), std::string(now_json)};
}

}  // namespace sluice::intake
