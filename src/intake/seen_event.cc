#include "intake/seen_event.h"

#include <chrono>
#include <string_view>

#include "core/iso_time.h"
#include "core/json_text.h"

namespace sluice::intake {
namespace {

void AppendMember(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += ",\"";
  out += name;
  out += "\":";
  core::AppendJsonString(out, value);
}

}  // namespace

void AppendSeenEvent(const SeenEvent& seen, std::string& out) {
  const std::chrono::system_clock::time_point time{std::chrono::milliseconds(seen.time_ms)};
  out += "{\"time\":\"" + core::FormatIsoTime(time) + '"';
  AppendMember(out, "outcome", core::ToString(seen.outcome));
  AppendMember(out, "stream", seen.stream);
  AppendMember(out, "schema_uri", seen.schema_uri);
  if (!seen.accepted()) {
    AppendMember(out, "code", core::ToString(seen.code));
    AppendMember(out, "message", seen.message);
  }
  AppendMember(out, "request_id", seen.request_id);
  if (seen.event.bytes > 0) out += ",\"event_bytes\":" + std::to_string(seen.event.bytes);
  if (seen.event.whole) {
    out += ",\"event\":";
    out += seen.event.text;
  } else {
    AppendMember(out, "event_begin", seen.event.text);
  }
  out += '}';
}

}  // namespace sluice::intake
