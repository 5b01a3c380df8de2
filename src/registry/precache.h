#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "registry/compile_function.h"
#include "registry/schema_uri.h"

namespace sluice::registry {

// Asks for a schema and calls back once, on any thread.
using AskForSchema =
    std::function<void(const std::string& uri, std::function<void(core::Result<SchemaPtr>)> done)>;

// Asks for one and blocks until it is answered.
core::Result<SchemaPtr> AskAndWait(const std::string& uri, const AskForSchema& ask);

// Loads the schemas that are named, a few at a time since some may be remote; blocks until all are
// answered. Those that fail are logged.
void PrecacheNamed(const std::vector<std::string>& uris, const AskForSchema& ask);

// Loads every version below the local bases, one after the other so that only one document is in
// memory; blocks. Those that fail are logged.
void PrecacheAll(const std::vector<BaseUri>& bases, const AskForSchema& ask);

}  // namespace sluice::registry
