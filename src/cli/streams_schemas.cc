#include "cli/streams_schemas.h"

#include <utility>

#include "core/yaml_json.h"

namespace sluice::cli {
namespace {

registry::SchemaLoaderOptions LoaderOptions(const core::SchemaOptions& options) {
  registry::SchemaLoaderOptions loader;
  loader.base_uris = options.base_uris;
  loader.file_extension = options.file_extension;
  loader.compile.formats =
      options.full_formats ? validate::FormatMode::kFull : validate::FormatMode::kFast;
  loader.fetch_timeout = options.fetch_timeout;
  return loader;
}

}  // namespace

TitleSchemas::TitleSchemas(const core::SchemaOptions& options)
    : newest_(options), loader_(LoaderOptions(options)) {}

core::Result<const streams::TitleSchema*> TitleSchemas::Find(std::string_view title) {
  auto known = known_.find(title);
  if (known == known_.end()) known = known_.emplace(std::string(title), Load(title)).first;
  if (!known->second) return known->second.error();
  return &*known->second;
}

core::Result<streams::TitleSchema> TitleSchemas::Load(std::string_view title) {
  const auto newest = newest_.Find(title);
  if (!newest) return newest.error();
  auto document = core::ParseYamlOrJson((*newest)->text, core::ErrorCode::kSchemaUnusable);
  if (!document) {
    return core::Error{core::ErrorCode::kSchemaUnusable,
                       (*newest)->location + ": " + document.error().message};
  }
  auto compiled = loader_.Load((*newest)->uri);
  if (!compiled) return compiled.error();
  return streams::TitleSchema{(*newest)->uri, (*newest)->location, *std::move(document),
                              *std::move(compiled)};
}

}  // namespace sluice::cli
