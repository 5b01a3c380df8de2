#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace boost::json {
class value;
}
namespace sluice::validate {
class CompiledSchema;
struct CompileOptions;
struct CompileOutcome;
}  // namespace sluice::validate

namespace sluice::registry {

using SchemaPtr = std::shared_ptr<const validate::CompiledSchema>;

using DocumentLookup = std::function<const boost::json::value*(std::string_view uri)>;

// validate::CompileSchema with its options bound; tests put in their own.
using CompileFunction = std::function<validate::CompileOutcome(
    std::string_view uri, const boost::json::value& schema, const DocumentLookup& documents)>;

}  // namespace sluice::registry
