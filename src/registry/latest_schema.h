#pragma once

#include <string_view>

#include "core/config.h"
#include "core/error.h"
#include "registry/compile_function.h"
#include "registry/precache.h"

namespace sluice::registry {

// The newest version of the schema that is called `title` ("library/loan"): of all local bases the
// highest version under that path, else what /<title>/latest is. Blocks. Fails as
// SchemaRegistry::Get does, with kSchemaNotFound if there is none of that title; also if the schema
// that lies there has another title.
core::Result<SchemaPtr> LoadLatestSchema(const core::SchemaOptions& options, std::string_view title,
                                         const AskForSchema& ask);

}  // namespace sluice::registry
