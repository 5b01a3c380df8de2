#pragma once

#include <string>
#include <utility>
#include <vector>

#include "validate/compiled_schema.h"
#include "validate/schema_index.h"

namespace sluice::validate {

using DeclaredFields = std::vector<std::pair<std::string, CompiledSchema::Declared>>;

// The dotted paths that `properties` of the root declare, through nested properties, `$ref`s and
// `allOf`; sorted. Bounded in depth, so that a recursive schema ends.
DeclaredFields CollectDeclaredFields(SchemaIndex& index);

}  // namespace sluice::validate
