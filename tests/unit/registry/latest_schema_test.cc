#include "registry/latest_schema.h"

#include <doctest/doctest.h>

#include <string>

#include "registry/schema_loader.h"
#include "support/temp_folder.h"
#include "validate/compiled_schema.h"

namespace sluice::registry {
namespace {

struct Bases {
  core::Result<SchemaPtr> Load(std::string_view title) {
    core::SchemaOptions options;
    SchemaLoaderOptions loader_options;
    for (const test::TempFolder* folder : {&first, &second})
      options.base_uris.push_back(folder->path());
    loader_options.base_uris = options.base_uris;
    SchemaLoader loader(loader_options);
    return LoadLatestSchema(
        options, title,
        [&](const std::string& uri, const std::function<void(core::Result<SchemaPtr>)>& done) {
          asked.push_back(uri);
          done(loader.Load(uri));
        });
  }
  std::string UriOf(std::string_view title) {
    const auto schema = Load(title);
    REQUIRE_MESSAGE(schema.has_value(), (schema.has_value() ? "" : schema.error().message));
    return (*schema)->uri();
  }
  core::Error ErrorOf(std::string_view title) {
    const auto schema = Load(title);
    REQUIRE(!schema.has_value());
    return schema.error();
  }

  test::TempFolder first;
  test::TempFolder second;
  std::vector<std::string> asked;
};

TEST_CASE("LoadLatestSchema: the highest version by number, of all bases") {
  Bases bases;
  bases.first.Write("/a/b/1.9.0.yaml", "title: a/b\n");
  bases.first.Write("/a/b/1.10.0.yaml", "title: a/b\n");
  bases.first.Write("/a/b/c/7.0.0.yaml", "title: a/b/c\n");
  bases.first.Write("/a/b/current.yaml", "title: a/b\n");
  CHECK(bases.UriOf("a/b") == "/a/b/1.10.0.yaml");
  bases.second.Write("/a/b/2.0.0", "title: a/b\n");
  CHECK(bases.UriOf("a/b") == "/a/b/2.0.0");
  CHECK(bases.UriOf("a/b/c") == "/a/b/c/7.0.0.yaml");
}

TEST_CASE("LoadLatestSchema: without a local version what latest is") {
  Bases bases;
  bases.first.Write("/a/latest", "title: a\n");
  CHECK(bases.UriOf("a") == "/a/latest");
}

TEST_CASE("LoadLatestSchema: none, one of another title, a title that leads elsewhere") {
  Bases bases;
  bases.first.Write("/a/1.0.0", "title: other\n");
  bases.first.Write("/b/1.0.0", "{}\n");
  CHECK(bases.ErrorOf("none").code == core::ErrorCode::kSchemaNotFound);
  const core::Error other = bases.ErrorOf("a");
  CHECK(other.code == core::ErrorCode::kSchemaNotFound);
  CHECK(other.message.find("'other'") != std::string::npos);
  CHECK(bases.ErrorOf("b").code == core::ErrorCode::kSchemaNotFound);
  bases.asked.clear();
  CHECK(bases.ErrorOf("../a").code == core::ErrorCode::kSchemaUriNotAllowed);
  CHECK(bases.ErrorOf("/host/a").code == core::ErrorCode::kSchemaUriNotAllowed);
  CHECK(bases.asked.empty());
}

}  // namespace
}  // namespace sluice::registry
