// Sources, their order, and declared streams.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "streams/config_assembly.h"
#include "streams/stream_registry.h"
#include "support/temp_folder.h"

namespace sluice::streams {
namespace {

std::string TitleOf(const StreamSnapshot& snapshot, std::string_view stream) {
  const StreamSettings* settings = snapshot.Find(stream);
  return settings == nullptr ? "none" : settings->schema_title.value_or("untitled");
}

std::shared_ptr<const StreamSnapshot> Read(const core::StreamOptions& options) {
  auto snapshot = ReadStreamConfig(options);
  REQUIRE_MESSAGE(snapshot.has_value(), (snapshot ? "" : snapshot.error().message));
  return *std::move(snapshot);
}

std::string ReadError(const core::StreamOptions& options) {
  const auto snapshot = ReadStreamConfig(options);
  REQUIRE(snapshot.has_error());
  CHECK(snapshot.error().code == core::ErrorCode::kStreamConfigUnavailable);
  return snapshot.error().message;
}

std::vector<std::string> Keys(const StreamSnapshot& snapshot) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < snapshot.size(); ++i) keys.push_back(snapshot.entry(i).key);
  return keys;
}

}  // namespace

TEST_CASE("Stream sources: inline over files over the URI, entries stay whole") {
  const test::TempFolder folder;
  folder.Write("20.json",
               R"({"b":{"schema_title":"from-20","sample":1},"c":{"schema_title":"20"}})");
  folder.Write("10.yaml", "a: {schema_title: from-10}\nb: {schema_title: from-10}\n");
  folder.Write(".hidden.yaml", "h: {}\n");
  folder.Write("notes.txt", "not a configuration");
  const test::TempFile file("streams:\n  a: {schema_title: uri}\n  d: {schema_title: uri}\n");
  core::StreamOptions options;
  options.inline_config = R"({"a":{"schema_title":"inline"}})";
  options.config_files = {folder.path()};
  options.config_uri = "file://" + file.path();
  options.config_object_path = "streams";
  const auto snapshot = Read(options);
  CHECK(Keys(*snapshot) == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(TitleOf(*snapshot, "a") == "inline");
  CHECK(TitleOf(*snapshot, "b") == "from-10");
  CHECK(TitleOf(*snapshot, "c") == "20");
  CHECK(TitleOf(*snapshot, "d") == "uri");
  CHECK(snapshot->Find("b")->settings_json == R"({"schema_title":"from-10","stream":"b"})");
}

TEST_CASE("Stream sources: default settings of all lie under every stream, the first wins") {
  const test::TempFile wiki(
      R"({"EventStreams":{"a":{"schema_title":"a","topic_prefixes":null},)"
      R"("0":{"stream":"n","schema_title":"n"},"/^r\\./":{"stream":"other"}},)"
      R"("EventStreamsDefaultSettings":{"topic_prefixes":["x."],"canary_events_enabled":true}})");
  const test::TempFile listed("EventStreams:\n  - {stream: l, schema_title: l}\n");
  core::StreamOptions options;
  options.default_settings = R"({"topic_prefixes":["eqiad."]})";
  options.config_files = {wiki.path(), listed.path()};
  const auto snapshot = Read(options);
  CHECK(Keys(*snapshot) == std::vector<std::string>{"a", "n", "/^r\\./", "l"});
  const std::string rest = R"("canary_events_enabled":true,)";
  CHECK(snapshot->Find("a")->settings_json ==
        R"({"topic_prefixes":null,)" + rest + R"("schema_title":"a","stream":"a"})");
  CHECK(snapshot->Find("a")->without_topic_prefix);
  CHECK(snapshot->Find("n")->settings_json ==
        R"({"topic_prefixes":["eqiad."],)" + rest + R"("stream":"n","schema_title":"n"})");
  CHECK_FALSE(snapshot->Find("n")->without_topic_prefix);
  CHECK(snapshot->Find("l")->settings_json ==
        R"({"topic_prefixes":["eqiad."],)" + rest + R"("stream":"l","schema_title":"l"})");
  const StreamSettings* regex = snapshot->Find("r.x");
  REQUIRE(regex != nullptr);
  CHECK(regex->regex);
  CHECK(regex == snapshot->FindKey("/^r\\./"));
  CHECK(snapshot->FindKey("r.x") == nullptr);
  CHECK(regex->settings_json ==
        R"({"topic_prefixes":["eqiad."],)" + rest + R"("stream":"/^r\\./"})");
}

TEST_CASE("Stream sources: all that is wrong is told at once, with its source") {
  const test::TempFolder folder;
  const std::string one = folder.Write("1.yaml", "a:\n  topics: x\n  topic_prefixes: {p: q}\n");
  const std::string two = folder.Write("2.yaml", "/(/: {}\n/x/i: {}\n/open: {}\n/y/q: {}\n");
  core::StreamOptions options;
  options.inline_config = R"({"i":{"schema_title":5}})";
  options.config_files = {folder.path()};
  const std::string message = ReadError(options);
  for (const std::string& want : {
           std::string("stream_config: /i/schema_title: has to be a string\n"),
           one + ":2: /a/topics: has to be a list, or null\n",
           one + ":3: /a/topic_prefixes: has to be a list, or null\n",
           two + ":1: /~1(~1: not a regular expression: ",
           two + ":3: /~1open: not a regular expression: a key that begins with /",
           two + ":4: /~1y~1q: not a regular expression: ",
       }) {
    CHECK_MESSAGE(message.find(want) != std::string::npos, want, " is not in ", message);
  }
  CHECK(message.find("x~1i") == std::string::npos);
}

TEST_CASE("Stream sources: a document that holds nothing is refused") {
  const test::TempFolder folder;
  core::StreamOptions options;
  options.config_files = {folder.path()};
  CHECK(ReadError(options) ==
        "stream_config_files " + folder.path() + ": the folder holds no .yaml, .yml or .json file");
  const std::string empty = folder.Write("a.yaml", "");
  CHECK(ReadError(options).starts_with(empty + ": there is no map of streams"));
  folder.Write("a.yaml", "{}");
  CHECK(ReadError(options) == empty + " holds no streams");
  folder.Write("a.yaml", "EventStreams: {}\n");
  CHECK(ReadError(options) == empty + " holds no streams");
  folder.Write("a.yaml", "EventStreamsDefaultSettings: {canary_events_enabled: true}\n");
  CHECK(Read(options)->size() == 0);
  options = {};
  options.inline_config = "{}";
  CHECK(Read(options)->size() == 0);
  options.config_max_bytes = 10;
  options.config_uri = folder.Write("b.yaml", "a: {schema_title: a-long-title}\n");
  CHECK(ReadError(options).ends_with("(stream_config_max_bytes)"));
}

TEST_CASE("Stream sources: an answer that was cut, or is a page, is refused") {
  core::StreamOptions options;
  options.config_object_path = "streams";
  const std::string whole = R"({"streams":{"a":{"schema_title":"t"},"b":{"schema_title":"u"}}})";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    CAPTURE(bytes);
    CHECK_FALSE(AssembleConfig(options, {{"cut", whole.substr(0, bytes), {}}}).has_value());
  }
  CHECK(AssembleConfig(options, {{"whole", whole, {}}}).has_value());
  CHECK_FALSE(
      AssembleConfig(options, {{"page", "<!DOCTYPE html>\n<html><body>x</body></html>", {}}})
          .has_value());
  options.config_object_path.clear();
  const ConfigText api{"api", R"({"error":{"code":"x"}})", ConfigText::Origin::kApi};
  const auto refused = AssembleConfig(options, {api});
  REQUIRE(refused.has_error());
  CHECK(refused.error().message == R"(api holds an error instead of streams: {"code":"x"})");
}

TEST_CASE("StreamRegistry: declared streams stand behind static ones") {
  core::StreamOptions options;
  options.inline_config = R"({"a":{"schema_title":"static"},"/^d\\./":{"schema_title":"regex"}})";
  options.default_settings = R"({"topic_prefixes":["eqiad."]})";
  StreamRegistry registry(options);
  REQUIRE(registry
              .SetDeclared({{"d.one", R"({"schema_title":"declared"})"},
                            {"a", R"({"schema_title":"declared"})"}})
              .has_value());
  CHECK(registry.Current() == nullptr);
  REQUIRE(registry.Load().has_value());
  const auto first = registry.Current();
  CHECK(Keys(*first) == std::vector<std::string>{"a", "/^d\\./", "d.one"});
  CHECK(TitleOf(*first, "a") == "static");
  CHECK(TitleOf(*first, "d.one") == "declared");
  CHECK(first->Find("d.one")->declared);
  CHECK(first->FindKey("d.one")->settings_json ==
        R"({"topic_prefixes":["eqiad."],"schema_title":"declared","stream":"d.one"})");
  CHECK(TitleOf(*first, "d.two") == "regex");
  CHECK_FALSE(first->Find("d.two")->declared);

  const std::uint64_t before = registry.generation();
  REQUIRE(registry.SetDeclared({{"d.two", R"({"schema_title":"second"})"}}).has_value());
  CHECK(registry.generation() == before + 1);
  CHECK(registry.Current()->generation == before + 1);
  CHECK(TitleOf(*registry.Current(), "d.two") == "second");
  CHECK(TitleOf(*registry.Current(), "d.one") == "regex");
  CHECK(TitleOf(*first, "d.one") == "declared");
  REQUIRE(registry.Load().has_value());  // a refresh
  CHECK(TitleOf(*registry.Current(), "d.two") == "second");
}

TEST_CASE("StreamRegistry: bad declarations change nothing") {
  core::StreamOptions options;
  options.inline_config = "{}";
  StreamRegistry registry(options);
  REQUIRE(registry.Load().has_value());
  REQUIRE(registry.SetDeclared({{"good", R"({"schema_title":"t"})"}}).has_value());
  const auto current = registry.Current();
  const auto refused = registry.SetDeclared(
      {{"x", R"({"schema_title":5})"}, {"/r/", "{}"}, {"", "{}"}, {"y", "[]"}, {"z", "{"}});
  REQUIRE(refused.has_error());
  const std::string& message = refused.error().message;
  CHECK(message.find("declared stream 'x': /schema_title: has to be a string\n") == 0);
  CHECK(message.find("declared stream '/r/': needs a name") != std::string::npos);
  CHECK(message.find("declared stream 'y': settings have to be a map") != std::string::npos);
  CHECK(message.find("declared stream 'z': line 1") != std::string::npos);
  CHECK(registry.Current() == current);

  StreamRegistry without{core::StreamOptions{}};
  CHECK(without.SetDeclared({}).has_value());
  CHECK_FALSE(without.SetDeclared({{"a", "{}"}}).has_value());
}

TEST_CASE("StreamRegistry: a declaration that the default settings spoil holds up no other") {
  core::StreamOptions options;
  options.inline_config = "{}";
  options.default_settings =
      R"({"producers":{"eventgate":{"enrich_fields_from_http_headers":{"a":5}}}})";
  StreamRegistry registry(options);
  REQUIRE(registry.Load().has_value());
  REQUIRE(registry
              .SetDeclared({{"spoiled", R"({"schema_title":"t"})"},
                            {"whole", R"({"schema_title":"t","producers":null})"}})
              .has_value());
  CHECK(registry.Current()->FindKey("spoiled") == nullptr);
  CHECK(registry.Current()->FindKey("whole") != nullptr);
}

TEST_CASE("StreamSettings: flags of what is not built are read") {
  core::StreamOptions options;
  options.inline_config = R"({"e":{"producers":{"eventgate":{"use_edge_uniques":true}}},)"
                          R"("k":{"producers":{"test_kitchen":{"is_test_kitchen_stream":true}}},)"
                          R"("n":{"producers":{"eventgate":{"use_edge_uniques":false}}}})";
  const auto snapshot = Read(options);
  CHECK(snapshot->Find("e")->edge_uniques);
  CHECK_FALSE(snapshot->Find("e")->test_kitchen);
  CHECK(snapshot->Find("k")->test_kitchen);
  CHECK_FALSE(snapshot->Find("n")->edge_uniques);
}

}  // namespace sluice::streams
