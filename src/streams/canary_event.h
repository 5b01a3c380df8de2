#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "core/error.h"

namespace sluice::streams {

// What a canary event is made of.
struct CanaryParts {
  const boost::json::value& schema_document;
  std::string_view schema_uri;  // of that document
  std::string_view stream;
  std::string_view now;  // a time as ISO text
};

// The canary event of a stream, a JSON text: the first of the schema document's `examples` with
// $schema the URI, meta.domain "canary", meta.stream the stream and meta.dt the time. Consumers
// know it by its domain. Fails with kSchemaUnusable if there is no example that is an object.
core::Result<std::string> MakeCanaryEvent(const CanaryParts& parts);

}  // namespace sluice::streams
