#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/config.h"
#include "registry/newest_schema.h"
#include "registry/schema_loader.h"
#include "streams/stream_lint.h"

namespace sluice::cli {

// The newest schema of each title, read and compiled as the daemon would. Remembers. Blocks; not
// thread-safe.
class TitleSchemas {
 public:
  explicit TitleSchemas(const core::SchemaOptions& options);

  // Whether the base URIs can be used; names the wrong one.
  core::Result<void> Check() const { return newest_.Check(); }

  // Fails as NewestSchemas::Find does, and with kSchemaUnusable. Valid as long as this.
  core::Result<const streams::TitleSchema*> Find(std::string_view title);

 private:
  core::Result<streams::TitleSchema> Load(std::string_view title);

  registry::NewestSchemas newest_;
  registry::SchemaLoader loader_;
  std::map<std::string, core::Result<streams::TitleSchema>, std::less<>> known_;
};

}  // namespace sluice::cli
