#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/uuid.h"
#include "intake/ingest.h"
#include "streams/stream_registry.h"
#include "validate/compiled_schema.h"
#include "validate/editable_event.h"
#include "validate/field_path.h"

namespace sluice::intake {

// What one request knows that events may be completed with.
struct RequestFacts {
  const HeaderSource* headers = nullptr;  // null: an event of our own
  std::string_view request_id;            // stands in for an absent x-request-id
  std::string_view peer_address;
  bool peer_is_trusted = false;
  std::string_view schema_uri_default;
  std::string_view stream_default;
  std::string_view now_json;  // the receive time as a JSON string
};

// Which fields are completed from what, for the events of one schema in one stream: only those that
// the schema declares. Immutable.
class EnrichmentPlan {
 public:
  EnrichmentPlan() = default;
  // Header fields come from the stream's settings if they name some, else from the configuration.
  EnrichmentPlan(const core::Config& config, const validate::CompiledSchema& schema,
                 const streams::StreamSettings* settings);

  // Edits the event. An event's own value is only ever replaced where the plan says always
  // (meta.dt).
  void Apply(const RequestFacts& facts, core::UuidGenerator& uuids,
             validate::EditableEvent& event) const;

 private:
  enum class Source : std::uint8_t { kNow, kUuid, kHeader, kClientIp };
  enum class Existing : std::uint8_t { kKeep, kReplace };
  struct Field {
    validate::FieldPath path;
    Source source;
    Existing existing;
    std::string header;  // lower case
  };
  std::vector<Field> fields_;
};

// Sets the value at `path` to `json`, making the objects on the way. Does nothing if a step on the
// way is there and is no object (validation will say so), or if there is a value and `replace` is
// kKeep.
enum class Replace : std::uint8_t { kKeep, kReplace };
void SetField(validate::EditableEvent& event, const validate::FieldPath& path,
              std::string_view json, Replace replace);

}  // namespace sluice::intake
