#include "streams/canary_event.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "streams/settings_reader.h"

namespace sluice::streams {

core::Result<std::string> MakeCanaryEvent(const CanaryParts& parts) {
  const auto fail = [](std::string why) {
    return core::Error{core::ErrorCode::kSchemaUnusable, std::move(why)};
  };
  const auto* schema = parts.schema_document.if_object();
  const auto* examples = schema == nullptr ? nullptr : schema->if_contains("examples");
  if (examples == nullptr || !examples->is_array() || examples->get_array().empty()) {
    return fail("the schema has no examples to make a canary event of");
  }
  boost::json::value event = examples->get_array().front();
  if (!event.is_object()) return fail("the schema's first example is no object");
  // Examples that were copied from another version, or from a fragment, name that or nothing.
  event.get_object()["$schema"] = parts.schema_uri;
  boost::json::value& meta = event.get_object()["meta"];
  if (!meta.is_object()) meta = boost::json::object();
  meta.get_object()["domain"] = "canary";
  meta.get_object()["stream"] = parts.stream;
  meta.get_object()["dt"] = parts.now;
  std::string text;
  AppendJson(text, event);
  return text;
}

}  // namespace sluice::streams
