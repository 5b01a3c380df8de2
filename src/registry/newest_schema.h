#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/config.h"
#include "core/error.h"

namespace sluice::registry {

// The newest version of a schema as it lies in a repository.
struct NewestSchema {
  std::string uri;       // "/a/b/1.2.0", as events name it
  std::string location;  // the file or URL that the text came from
  std::string text;      // JSON or YAML
};

// Finds newest versions by schema title, for commands: in the first of the base URIs that has the
// title. In a folder that is the highest version number; a remote base is asked for
// "<title>/latest". Remembers what it found. Not thread-safe; blocks.
class NewestSchemas {
 public:
  explicit NewestSchemas(const core::SchemaOptions& options);
  ~NewestSchemas();

  // Whether the base URIs are ones, and the folders can be read; names the wrong one.
  core::Result<void> Check() const;

  // Fails with kSchemaUriNotAllowed, kSchemaNotFound, kSchemaUnavailable or kSchemaUnusable. The
  // result is valid as long as this.
  core::Result<const NewestSchema*> Find(std::string_view title);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::registry
