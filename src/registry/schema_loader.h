#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "registry/compile_function.h"
#include "registry/schema_uri.h"
#include "validate/schema_compiler.h"

namespace sluice::registry {

struct SchemaLoaderOptions {
  std::vector<std::string>
      base_uris;  // folders, file:// or http(s)://, looked through in this order
  std::string file_extension;
  AbsoluteUris absolute_uris = AbsoluteUris::kRefused;
  validate::CompileOptions compile;
  std::chrono::milliseconds fetch_timeout{10000};
  CompileFunction compile_function;  // null: validate::CompileSchema with `compile`
};

// Loads schemas one after the other, blocking, for commands and tests. Remembers what it loaded and
// what failed. Not thread-safe.
class SchemaLoader {
 public:
  explicit SchemaLoader(SchemaLoaderOptions options);
  ~SchemaLoader();
  SchemaLoader(const SchemaLoader&) = delete;
  SchemaLoader& operator=(const SchemaLoader&) = delete;

  // Whether the base URIs are ones; names the wrong one.
  core::Result<void> Check() const;

  // The compiled schema. Errors as SchemaRegistry::Get has them.
  core::Result<SchemaPtr> Load(std::string_view uri);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Fails with the base URI that is none, or the local one that is no readable folder, and what to
// do.
core::Result<std::vector<BaseUri>> ParseBaseUris(const std::vector<std::string>& uris);
core::Result<void> CheckFolder(const BaseUri& base);

// validate::CompileSchema with `options`.
CompileFunction CompileWith(const validate::CompileOptions& options);

}  // namespace sluice::registry
