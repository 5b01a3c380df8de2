#include "registry/schema_loader.h"

#include <dirent.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/read_file.h"
#include "fetch/http_fetcher.h"
#include "registry/load_task.h"

namespace sluice::registry {

struct SchemaLoader::Impl {
  explicit Impl(SchemaLoaderOptions opts) : options(std::move(opts)) {
    auto bases = ParseBaseUris(options.base_uris);
    if (bases) {
      environment.bases = *std::move(bases);
    } else {
      fault = bases.error();
    }
    environment.file_extension = options.file_extension;
    environment.absolute = options.absolute_uris;
    environment.compile =
        options.compile_function ? options.compile_function : CompileWith(options.compile);
    environment.fetch = [this](std::string url, std::function<void(fetch::HttpReply)> done) {
      if (!fetcher) {
        fetch::HttpFetcher::Options http;
        http.total_timeout = options.fetch_timeout;
        fetcher.emplace(io, std::move(http));
      }
      fetcher->Get(std::move(url), std::move(done));
    };
    environment.compiled_from = [this](const std::string& location) {
      const auto found = by_location.find(location);
      return found == by_location.end() ? SchemaPtr() : found->second;
    };
  }

  core::Result<SchemaPtr> Load(const std::string& uri, const std::string& shown_uri) {
    std::optional<LoadResult> result;
    LoadTask::Start(environment, uri, shown_uri,
                    [&result](LoadResult loaded) { result.emplace(std::move(loaded)); });
    io.restart();
    while (!result && io.run_one() > 0) {
    }
    if (!result) {
      return core::Error{core::ErrorCode::kInternal, LoadFailure(shown_uri, "never answered")};
    }
    if (result->schema) by_location.emplace(result->location, *result->schema);
    return std::move(result->schema);
  }

  const SchemaLoaderOptions options;
  std::optional<core::Error> fault;
  LoadEnvironment environment;
  boost::asio::io_context io{1};
  std::optional<fetch::HttpFetcher> fetcher;
  std::unordered_map<std::string, core::Result<SchemaPtr>> known;
  std::unordered_map<std::string, SchemaPtr> by_location;
};

SchemaLoader::SchemaLoader(SchemaLoaderOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
SchemaLoader::~SchemaLoader() = default;

core::Result<void> SchemaLoader::Check() const {
  if (impl_->fault) return *impl_->fault;
  for (const auto& base : impl_->environment.bases) {
    if (auto checked = CheckFolder(base); !checked) return checked;
  }
  return {};
}

core::Result<SchemaPtr> SchemaLoader::Load(std::string_view uri) {
  if (impl_->fault) return *impl_->fault;
  const std::string shown_uri(uri);
  const auto known = impl_->known.find(shown_uri);
  if (known != impl_->known.end()) return known->second;
  const auto normal = NormalizeSchemaUri(uri, impl_->options.absolute_uris);
  auto result = normal ? impl_->Load(*normal, shown_uri) : core::Result<SchemaPtr>(normal.error());
  impl_->known.emplace(shown_uri, result);
  return result;
}

core::Result<std::vector<BaseUri>> ParseBaseUris(const std::vector<std::string>& uris) {
  std::vector<BaseUri> bases;
  for (const auto& uri : uris) {
    auto base = ParseBaseUri(uri);
    if (!base) return base.error();
    bases.push_back(*std::move(base));
  }
  return bases;
}

core::Result<void> CheckFolder(const BaseUri& base) {
  if (base.remote) return {};
  const std::string folder = base.prefix.empty() ? "/" : base.prefix;
  DIR* dir = opendir(folder.c_str());
  if (!dir) {
    return core::Error{core::ErrorCode::kSchemaUnavailable,
                       "schema_base_uris: " + folder + ": " + core::ErrnoText(errno) +
                           "; name a folder that this user can read"};
  }
  closedir(dir);
  return {};
}

CompileFunction CompileWith(const validate::CompileOptions& options) {
  return [options](std::string_view uri, const boost::json::value& schema,
                   const DocumentLookup& documents) {
    return validate::CompileSchema(uri, schema, options, documents);
  };
}

}  // namespace sluice::registry
