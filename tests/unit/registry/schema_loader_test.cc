#include "registry/schema_loader.h"

#include <doctest/doctest.h>

#include <boost/json/object.hpp>
#include <cstdlib>
#include <iostream>
#include <set>

#include "support/temp_folder.h"
#include "validate/schema_compiler.h"

namespace sluice::registry {
namespace {

constexpr const char* kGood = "title: good\ntype: object\n";

SchemaLoaderOptions OptionsFor(std::vector<std::string> bases) {
  SchemaLoaderOptions options;
  options.base_uris = std::move(bases);
  return options;
}

core::Error LoadError(SchemaLoader& loader, std::string_view uri) {
  const auto result = loader.Load(uri);
  REQUIRE(result.has_error());
  return result.error();
}

}  // namespace

TEST_CASE("SchemaLoader: the first base that has a readable document wins") {
  const test::TempFolder first;
  const test::TempFolder second;
  first.Write("/a/1.0.0", "title: first\n");
  second.Write("/a/1.0.0", "title: second\n");
  second.Write("/b/1.0.0", "title: only\n");
  first.Write("/c/1.0.0", "[broken\n");
  second.Write("/c/1.0.0", "title: whole\n");
  SchemaLoader loader(OptionsFor({first.path() + "/", "file://" + second.path()}));
  REQUIRE(loader.Check().has_value());
  CHECK(loader.Load("/a/1.0.0").value()->title() == "first");
  CHECK(loader.Load("/b/1.0.0").value()->title() == "only");
  CHECK(loader.Load("/c/1.0.0").value()->title() == "whole");
  const auto missing = LoadError(loader, "/d/1.0.0");
  CHECK(missing.code == core::ErrorCode::kSchemaNotFound);
  CHECK(missing.message == "Failed loading schema at /d/1.0.0");
}

TEST_CASE("SchemaLoader: several names of one document share one compiled schema") {
  const test::TempFolder folder;
  folder.Write("/a/1.0.0.yaml", kGood);
  folder.Write("/a/1.0.0", "1.0.0.yaml");
  folder.Link("/a/latest", "1.0.0.yaml");
  int compiled = 0;
  auto options = OptionsFor({folder.path()});
  options.compile_function = [&](std::string_view uri, const boost::json::value& schema,
                                 const DocumentLookup& documents) {
    ++compiled;
    return validate::CompileSchema(uri, schema, {}, documents);
  };
  SchemaLoader loader(std::move(options));
  const auto schema = loader.Load("/a/1.0.0").value();
  for (const char* uri : {"/a/1.0.0#", "/a/1.0.0.yaml", "/a/latest", "/a//1.0.0"}) {
    CAPTURE(uri);
    CHECK(loader.Load(uri).value() == schema);
  }
  CHECK(compiled == 1);
}

TEST_CASE("SchemaLoader: the extension is appended where it is missing") {
  const test::TempFolder folder;
  folder.Write("/a/1.0.0.yaml", kGood);
  folder.Write("/a/1.0.1.json", R"({"title":"json"})");
  auto options = OptionsFor({folder.path()});
  options.file_extension = ".yaml";
  SchemaLoader loader(std::move(options));
  CHECK(loader.Load("/a/1.0.0").value()->title() == "good");
  CHECK(loader.Load("/a/1.0.1.json").value()->title() == "json");
  CHECK(loader.Load("/a/1.0.1").has_error());
}

TEST_CASE("SchemaLoader: $refs to other documents are loaded through the bases") {
  const test::TempFolder first;
  const test::TempFolder second;
  first.Write("/a/1.0.0",
              "$id: /a/1.0.0\nproperties: {x: {$ref: '/b/1.0.0#'}, y: {$ref: "
              "'/c/1.0.0#/definitions/d'}}\n");
  second.Write("/b/1.0.0", "$id: /b/1.0.0\nallOf: [{$ref: /c/1.0.0}]\n");
  second.Write("/c/1.0.0", "$id: /c/1.0.0\ndefinitions: {d: {type: string}}\n");
  first.Write("/d/1.0.0", "properties: {x: {$ref: /nowhere/1.0.0}}\n");
  first.Write("/e/1.0.0", "properties: {x: {$ref: 'http://127.0.0.1:1/x'}}\n");
  first.Write("/f/1.0.0", "properties: {x: {$ref: 'file://" + second.path() + "/c/1.0.0'}}\n");
  SchemaLoader loader(OptionsFor({first.path(), "file://" + second.path()}));
  const auto a = loader.Load("/a/1.0.0");
  CHECK_MESSAGE(a.has_value(), (a ? "" : a.error().message));
  const auto f = loader.Load("/f/1.0.0");
  CHECK_MESSAGE(f.has_value(), (f ? "" : f.error().message));

  const auto missing = LoadError(loader, "/d/1.0.0");
  CHECK(missing.code == core::ErrorCode::kSchemaUnusable);
  CHECK(missing.message ==
        "Failed loading schema at /d/1.0.0: " + first.path() +
            "/d/1.0.0#/properties/x: $ref to /nowhere/1.0.0: not found in any of the schema base "
            "URIs");
  const auto elsewhere = LoadError(loader, "/e/1.0.0");
  CHECK(elsewhere.code == core::ErrorCode::kSchemaUnusable);
  CHECK(elsewhere.message ==
        "Failed loading schema at /e/1.0.0: " + first.path() +
            "/e/1.0.0#/properties/x: $ref to http://127.0.0.1:1/x: it lies under none of the base "
            "URIs");
}

TEST_CASE("SchemaLoader: a compiler that never has enough is stopped") {
  const test::TempFolder folder;
  folder.Write("/a/1.0.0", "{}");
  auto options = OptionsFor({folder.path()});
  bool more = true;
  options.compile_function = [&](std::string_view, const boost::json::value&,
                                 const DocumentLookup&) {
    validate::CompileOutcome outcome;
    static int counter = 0;
    outcome.needed.push_back(more ? "/a/1.0.0?" + std::to_string(++counter) : "/a/1.0.0");
    return outcome;
  };
  SchemaLoader loader(std::move(options));
  CHECK(LoadError(loader, "/a/1.0.0").message.find("a query is not allowed") != std::string::npos);
  more = false;
  CHECK(LoadError(loader, "/a/1.0.0#").message.ends_with("$ref that leads nowhere"));
}

TEST_CASE("SchemaLoader: an unusable document names its file and the reason") {
  const test::TempFolder folder;
  folder.Write("/yaml/1.0.0", "a: 1\nb: [\n");
  folder.Write("/text/1.0.0", "only some words\n");
  folder.Write("/insecure/1.0.0", "properties: {x: {type: string, pattern: a}}\n");
  folder.Write("/wrong/1.0.0", "type: 5\n");
  SchemaLoader loader(OptionsFor({folder.path()}));
  const std::string where = std::filesystem::canonical(folder.path()).string();
  const auto check = [&](const std::string& uri, std::string_view part) {
    const auto error = LoadError(loader, uri);
    CHECK(error.code == core::ErrorCode::kSchemaUnusable);
    const std::string prefix = "Failed loading schema at " + uri + ": " + where + uri + ": ";
    CHECK_MESSAGE(error.message.starts_with(prefix), error.message);
    CHECK_MESSAGE(error.message.find(part, prefix.size()) != std::string::npos, error.message);
  };
  check("/yaml/1.0.0", "line ");
  check("/text/1.0.0", "a schema has to be an object or a boolean");
  check("/insecure/1.0.0", "maxLength");
  check("/wrong/1.0.0", "type");
}

TEST_CASE("SchemaLoader: base URIs that cannot be are told, with what to do") {
  SchemaLoader missing(OptionsFor({"/nonexistent/schemas"}));
  REQUIRE(missing.Check().has_error());
  CHECK(
      missing.Check().error().message ==
      "schema_base_uris: /nonexistent/schemas: No such file or directory; name a folder that this "
      "user can read");
  SchemaLoader scheme(OptionsFor({"ftp://host/"}));
  CHECK(scheme.Check().has_error());
  CHECK(LoadError(scheme, "/a").message == scheme.Check().error().message);
}

TEST_CASE("SchemaLoader: loads every published schema of the primary repository") {
  const char* shared = std::getenv("SLUICE_SHARED");
  const std::string base = std::string(shared ? shared : "") + "/data/schemas-primary/jsonschema";
  if (!shared || !std::filesystem::exists(base)) {
    std::cout << "SKIPPED: no shared data at SLUICE_SHARED\n";
    return;
  }
  SchemaLoader loader(OptionsFor({base}));
  for (const char* uri : {"/test/event/1.0.0", "/test/event/latest", "/test/event/1.0.0.yaml",
                          "/test/event/1.0.0#", "/w3c/reportingapi/network_error/1.0.0",
                          "/mediawiki/revision/create/2.0.0", "/error/2.1.0"}) {
    const auto schema = loader.Load(uri);
    CHECK_MESSAGE(schema.has_value(), (schema ? "" : schema.error().message));
  }
  CHECK(LoadError(loader, "/no/such/1.0.0").code == core::ErrorCode::kSchemaNotFound);
  CHECK(LoadError(loader, "test/event/1.0.0").code == core::ErrorCode::kSchemaUriNotAllowed);
}

}  // namespace sluice::registry
