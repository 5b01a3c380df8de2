#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "validate/compiled_schema.h"
#include "validate/format.h"

namespace sluice::validate {

struct CompileOptions {
  FormatMode formats = FormatMode::kFast;
  bool secure_check = true;  // the original's rule: pattern and format need maxLength, and so on
  bool check_meta_schema = true;
};

// The outcome of Compile: one of the two is set, or `needed` names documents to load first.
struct CompileOutcome {
  std::shared_ptr<const CompiledSchema> schema;
  core::Error error;  // kSchemaUnusable; the message names the JSON pointer, the keyword and why
  std::vector<std::string>
      needed;  // absolute or base-relative URIs (no fragment) of $refs that were not given
};

// Turns JSON Schema (draft-04, -06, -07 by `$schema`, default 07) into a CompiledSchema. Pure CPU:
// `$ref`s to other documents are looked up with `documents`, which returns null for one that is not
// at hand (the caller loads what `needed` names, and compiles again). Does not throw.
CompileOutcome CompileSchema(
    std::string_view uri, const boost::json::value& schema, const CompileOptions& options,
    const std::function<const boost::json::value*(std::string_view uri)>& documents);

}  // namespace sluice::validate
