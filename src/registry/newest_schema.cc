#include "registry/newest_schema.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/yaml_json.h"
#include "fetch/http_fetcher.h"
#include "registry/schema_document.h"
#include "registry/schema_loader.h"
#include "registry/schema_uri.h"
#include "registry/version_files.h"

namespace sluice::registry {
namespace {

core::Error NotFound(std::string_view title, std::string_view why) {
  return {core::ErrorCode::kSchemaNotFound,
          "no version of " + std::string(title) + " in schema_base_uris" + std::string(why)};
}

// The URI that a document from `<title>/latest` has: its $id if that is a version of the title.
std::string UriOf(std::string_view title_uri, const std::string& text) {
  const auto document = core::ParseYamlOrJson(text, core::ErrorCode::kSchemaUnusable);
  if (document && document->is_object()) {
    const auto* id = document->get_object().if_contains("$id");
    if (id != nullptr && id->is_string()) {
      const std::string_view uri = id->get_string();
      if (uri.starts_with(title_uri) && ParseSchemaVersion(uri.substr(title_uri.size()))) {
        return std::string(uri);
      }
    }
  }
  return std::string(title_uri) + "/latest";
}

}  // namespace

struct NewestSchemas::Impl {
  explicit Impl(const core::SchemaOptions& opts) : options(opts) {
    auto parsed = ParseBaseUris(options.base_uris);
    if (parsed) {
      bases = *std::move(parsed);
    } else {
      fault = parsed.error();
    }
  }

  core::Result<NewestSchema> Find(std::string_view title) {
    if (fault) return *fault;
    std::string title_uri = "/" + std::string(title);
    if (auto allowed = NormalizeSchemaUri(title_uri + "/latest", AbsoluteUris::kRefused);
        !allowed) {
      return allowed.error();
    }
    std::optional<core::Error> worst;
    for (const BaseUri& base : bases) {
      auto found = base.remote ? FindRemote(base, title_uri) : FindLocal(base, title_uri);
      if (found) return found;
      // A base that could not be asked may have what the next ones do not.
      if (found.error().code != core::ErrorCode::kSchemaNotFound) return found.error();
      worst = found.error();
    }
    return worst.value_or(NotFound(title, ", which is empty"));
  }

  core::Result<NewestSchema> FindLocal(const BaseUri& base, const std::string& title_uri) const {
    const std::string folder = base.prefix + title_uri;
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) return NotFound(title_uri.substr(1), "");
    std::vector<std::string> problems;
    const auto newest = FindNewestVersion(folder, problems);
    if (!newest) return NotFound(title_uri.substr(1), problems.empty() ? "" : ": " + problems[0]);
    const VersionFile& file = newest->file;
    auto document = ReadUnderFolder(base.prefix, title_uri + file.uri + file.extension);
    if (document.status != FindStatus::kFound) {
      return core::Error{core::ErrorCode::kSchemaUnusable, document.reason};
    }
    return NewestSchema{title_uri + file.uri, std::move(document.location),
                        std::move(document.text)};
  }

  core::Result<NewestSchema> FindRemote(const BaseUri& base, const std::string& title_uri) {
    const std::string url =
        base.prefix + WithExtension(title_uri + "/latest", options.file_extension);
    if (!fetcher) {
      fetch::HttpFetcher::Options http;
      http.total_timeout = options.fetch_timeout;
      fetcher.emplace(io, std::move(http));
    }
    std::optional<fetch::HttpReply> reply;
    fetcher->Get(url, [&reply](fetch::HttpReply got) { reply = std::move(got); });
    io.restart();
    while (!reply && io.run_one() > 0) {
    }
    if (!reply || !reply->error.empty() || reply->status >= 500) {
      const std::string why = !reply                 ? "never answered"
                              : reply->error.empty() ? "status " + std::to_string(reply->status)
                                                     : reply->error;
      return core::Error{core::ErrorCode::kSchemaUnavailable, url + ": " + why};
    }
    if (reply->status != 200) return NotFound(title_uri.substr(1), "");
    return NewestSchema{UriOf(title_uri, reply->body), std::move(reply->url),
                        std::move(reply->body)};
  }

  const core::SchemaOptions options;
  std::optional<core::Error> fault;
  std::vector<BaseUri> bases;
  boost::asio::io_context io{1};
  std::optional<fetch::HttpFetcher> fetcher;
  std::map<std::string, core::Result<NewestSchema>, std::less<>> known;
};

NewestSchemas::NewestSchemas(const core::SchemaOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
NewestSchemas::~NewestSchemas() = default;

core::Result<void> NewestSchemas::Check() const {
  if (impl_->fault) return *impl_->fault;
  for (const BaseUri& base : impl_->bases) {
    if (auto checked = CheckFolder(base); !checked) return checked;
  }
  return {};
}

core::Result<const NewestSchema*> NewestSchemas::Find(std::string_view title) {
  auto known = impl_->known.find(title);
  if (known == impl_->known.end()) {
    known = impl_->known.emplace(std::string(title), impl_->Find(title)).first;
  }
  if (!known->second) return known->second.error();
  return &*known->second;
}

}  // namespace sluice::registry
