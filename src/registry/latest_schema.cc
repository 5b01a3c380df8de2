#include "registry/latest_schema.h"

#include <string>
#include <vector>

#include "registry/schema_uri.h"
#include "registry/version_files.h"
#include "validate/compiled_schema.h"

namespace sluice::registry {
namespace {

struct Newest {
  SchemaVersion version{};
  std::string uri;        // empty: none
  std::string extension;  // of its file
};

Newest FindNewest(const core::SchemaOptions& options, const std::string& path) {
  Newest newest;
  for (const std::string& uri : options.base_uris) {
    const auto base = ParseBaseUri(uri);
    if (!base.has_value() || base->remote) continue;
    std::vector<std::string> ignored;  // a base without this schema is none that is broken
    const auto found = FindNewestVersion(base->prefix + path, ignored);
    if (found && (newest.uri.empty() || found->version > newest.version)) {
      newest = {found->version, path + found->file.uri, found->file.extension};
    }
  }
  return newest;
}

}  // namespace

core::Result<SchemaPtr> LoadLatestSchema(const core::SchemaOptions& options, std::string_view title,
                                         const AskForSchema& ask) {
  const auto path = NormalizeSchemaUri("/" + std::string(title), AbsoluteUris::kRefused);
  if (!path.has_value()) return path.error();
  const Newest newest = FindNewest(options, *path);
  auto schema = AskAndWait(newest.uri.empty() ? *path + "/latest" : newest.uri, ask);
  // Without links and without schema_file_extension events have to name the file.
  if (!schema.has_value() && schema.error().code == core::ErrorCode::kSchemaNotFound &&
      !newest.extension.empty()) {
    schema = AskAndWait(newest.uri + newest.extension, ask);
  }
  if (schema.has_value() && (*schema)->title() != title) {
    return core::Error{core::ErrorCode::kSchemaNotFound, "The schema at " + (*schema)->uri() +
                                                             " has the title '" +
                                                             (*schema)->title().value_or("") + "'"};
  }
  return schema;
}

}  // namespace sluice::registry
