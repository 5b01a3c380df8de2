#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "registry/compile_function.h"
#include "validate/compiled_schema.h"

namespace sluice::registry {

// Every schema that was ever loaded, by URI and by the place that its document came from. Nothing
// is ever removed: published versions do not change, and an outage of their source must not take
// them away. Any thread.
class SchemaCache {
 public:
  SchemaPtr Find(std::string_view uri) const {
    std::shared_lock lock(mutex_);
    const auto found = by_uri_.find(uri);
    return found == by_uri_.end() ? SchemaPtr() : found->second;
  }

  SchemaPtr FindByLocation(const std::string& location) const {
    std::shared_lock lock(mutex_);
    const auto found = by_location_.find(location);
    return found == by_location_.end() ? SchemaPtr() : found->second;
  }

  void Put(const std::string& uri, const std::string& location, const SchemaPtr& schema) {
    std::unique_lock lock(mutex_);
    if (by_location_.try_emplace(location, schema).second) bytes_ += schema->memory_bytes();
    by_uri_.insert_or_assign(uri, schema);
  }

  std::size_t uris() const {
    std::shared_lock lock(mutex_);
    return by_uri_.size();
  }
  // Of the compiled schemas, each counted once.
  std::size_t bytes() const {
    std::shared_lock lock(mutex_);
    return bytes_;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, SchemaPtr, Hash, std::equal_to<>> by_uri_;
  std::unordered_map<std::string, SchemaPtr> by_location_;
  std::size_t bytes_ = 0;
};

}  // namespace sluice::registry
