#include "streams/stream_registry.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "core/yaml_json.h"
#include "support/temp_folder.h"
#include "validate/pattern.h"

namespace sluice::streams {
namespace {

core::StreamOptions OptionsFor(const std::string& uri, std::string object_path = "") {
  core::StreamOptions options;
  options.config_uri = uri;
  options.config_object_path = std::move(object_path);
  return options;
}

constexpr const char* kStreams = R"(
a.b:
  schema_title: test/event
  message_key_fields:
    wiki_id: wiki
    page_id: page.page_id
  producers:
    eventgate:
      enrich_fields_from_http_headers:
        meta.request_id: X-Request-Id
        http.request_headers.user-agent: false
/^mediawiki\.job\..+/:
  schema_title: mediawiki/job
/job/:
  schema_title: second
plain:
empty: {}
off:
  producers: {eventgate: {enrich_fields_from_http_headers: false}}
opted_out:
  schema_title: null
  message_key_fields: null
  producers: null
)";

std::string LoadError(StreamRegistry& registry) {
  const auto loaded = registry.Load();
  REQUIRE(loaded.has_error());
  CHECK(loaded.error().code == core::ErrorCode::kStreamConfigUnavailable);
  return loaded.error().message;
}

}  // namespace

TEST_CASE("StreamRegistry: without a configuration there is no snapshot") {
  StreamRegistry registry{core::StreamOptions{}};
  CHECK_FALSE(registry.configured());
  CHECK(registry.Load().has_value());
  CHECK(registry.Current() == nullptr);
  CHECK(registry.generation() == 0);
}

TEST_CASE("StreamRegistry: reads the settings that the gate uses") {
  const test::TempFile file(kStreams);
  StreamRegistry registry(OptionsFor("file://" + file.path()));
  const auto loaded = registry.Load();
  REQUIRE_MESSAGE(loaded.has_value(), (loaded ? "" : loaded.error().message));
  const auto snapshot = registry.Current();
  REQUIRE(snapshot);
  CHECK(snapshot->size() == 7);
  CHECK(snapshot->generation == 1);
  CHECK(registry.generation() == 1);

  const auto* settings = snapshot->Find("a.b");
  REQUIRE(settings);
  CHECK(settings->key == "a.b");
  CHECK(settings->has_settings);
  CHECK(settings->schema_title == "test/event");
  CHECK(settings->message_key_fields ==
        core::StringPairs{{"wiki_id", "wiki"}, {"page_id", "page.page_id"}});
  CHECK(settings->header_fields == core::StringPairs{{"meta.request_id", "x-request-id"},
                                                     {"http.request_headers.user-agent", ""}});
  CHECK(settings->settings_json ==
        R"({"schema_title":"test/event","message_key_fields":{"wiki_id":"wiki",)"
        R"("page_id":"page.page_id"},"producers":{"eventgate":{"enrich_fields_from_http_headers":)"
        R"({"meta.request_id":"X-Request-Id","http.request_headers.user-agent":false}}},)"
        R"("stream":"a.b"})");

  const auto* plain = snapshot->Find("plain");
  REQUIRE(plain);
  CHECK_FALSE(plain->has_settings);
  CHECK(plain->settings_json == R"({"stream":"plain"})");
  const auto* empty = snapshot->Find("empty");
  REQUIRE(empty);
  CHECK(empty->has_settings);
  CHECK(empty->schema_title == std::nullopt);
  CHECK(empty->header_fields == std::nullopt);
  const auto* off = snapshot->Find("off");
  REQUIRE(off);
  CHECK(off->header_fields == core::StringPairs{});
  const auto* opted_out = snapshot->Find("opted_out");
  REQUIRE(opted_out);
  CHECK(opted_out->has_settings);
  CHECK(opted_out->schema_title == std::nullopt);
}

TEST_CASE("StreamSnapshot: exact key, else the first regex that matches") {
  const test::TempFile file(kStreams);
  StreamRegistry registry(OptionsFor(file.path()));
  REQUIRE(registry.Load().has_value());
  const auto snapshot = registry.Current();
  const auto key_of = [&](std::string_view stream) {
    const auto* settings = snapshot->Find(stream);
    return settings ? settings->key : "none";
  };
  CHECK(key_of("mediawiki.job.refreshLinks") == "/^mediawiki\\.job\\..+/");
  CHECK(key_of("mediawiki.job.") == "/job/");
  CHECK(key_of("xjobx") == "/job/");
  CHECK(key_of("mediawiki_job_") == "/job/");
  CHECK(key_of("/job/") == "/job/");
  CHECK(key_of("a.b") == "a.b");
  CHECK(key_of("axb") == "none");
  CHECK(key_of("a.b.schema_title") == "none");
  CHECK(key_of("a") == "none");
  CHECK(key_of("") == "none");
}

TEST_CASE("StreamRegistry: reads what the API answers, below the object path") {
  const test::TempFile file(
      R"({"streams":{"0":{"stream":"named","schema_title":"t"},)"
      R"("x":{"sample":{"rate":0.5,"n":[1,1e21]}}},"warnings":{"main":["unrecognized"]}})");
  StreamRegistry registry(OptionsFor(file.path(), "streams"));
  REQUIRE(registry.Load().has_value());
  const auto snapshot = registry.Current();
  CHECK(snapshot->Find("0") == nullptr);
  REQUIRE(snapshot->Find("named"));
  CHECK(snapshot->Find("named")->schema_title == "t");
  REQUIRE(snapshot->Find("x"));
  CHECK(snapshot->Find("x")->settings_json ==
        R"({"sample":{"rate":0.5,"n":[1,1e+21]},"stream":"x"})");
}

TEST_CASE("StreamRegistry: all problems are told at once, with their lines") {
  const test::TempFile file(
      "streams:\n"
      "  a: 5\n"
      "  b:\n"
      "    schema_title: [x]\n"
      "    message_key_fields:\n"
      "      k: 1\n"
      "  c:\n"
      "    message_key_fields: [k]\n"
      "    producers:\n"
      "      eventgate:\n"
      "        enrich_fields_from_http_headers:\n"
      "          meta.id: true\n"
      "  /(/: {}\n"
      "  d: {producers: 1}\n");
  StreamRegistry registry(OptionsFor(file.path(), "streams"));
  const std::string message = LoadError(registry);
  const std::string at = file.path() + ":";
  for (const std::string& want : {
           at + "2: /streams/a: the settings of a stream have to be a map\n",
           at + "4: /streams/b/schema_title: has to be a string\n",
           at + "6: /streams/b/message_key_fields/k: has to be the path of a field of the event",
           at + "8: /streams/c/message_key_fields: has to be a map\n",
           at +
               "12: /streams/c/producers/eventgate/enrich_fields_from_http_headers/meta.id: has to "
               "be the name of a request header, or false\n",
           at + "13: /streams/~1(~1: not a regular expression: ",
           at + "14: /streams/d/producers: has to be a map",
       }) {
    CHECK_MESSAGE(message.find(want) != std::string::npos, want, " is not in ", message);
  }
  CHECK(registry.Current() == nullptr);
}

TEST_CASE("StreamRegistry: a file that is no configuration is refused with the reason") {
  SUBCASE("absent") {
    StreamRegistry registry(OptionsFor("/nonexistent/streams.yaml"));
    CHECK(LoadError(registry) ==
          "stream_config_uri /nonexistent/streams.yaml: No such file or directory");
  }
  SUBCASE("a device") {
    StreamRegistry registry(OptionsFor("/dev/null"));
    CHECK(LoadError(registry) == "stream_config_uri /dev/null: Invalid argument");
  }
  SUBCASE("an integer key without a name") {
    const test::TempFile file("7: {schema_title: seven}\n");
    StreamRegistry registry(OptionsFor(file.path()));
    CHECK(LoadError(registry) ==
          file.path() +
              ":1: /7: an entry with an integer key has to be named by its setting `stream`");
  }
  SUBCASE("no streams") {
    const test::TempFile file("{}");
    StreamRegistry registry(OptionsFor(file.path()));
    CHECK(LoadError(registry) == file.path() + " holds no streams");
  }
  SUBCASE("remote, and nobody there") {
    core::StreamOptions options = OptionsFor("http://name:secret@127.0.0.1:1/w/api.php");
    options.config_retries = 0;
    StreamRegistry registry(options);
    CHECK(LoadError(registry) ==
          "stream_config_uri http://127.0.0.1:1/w/api.php: connect: Connection refused");
  }
  SUBCASE("broken YAML") {
    const test::TempFile file("a: 1\nb: [\n");
    StreamRegistry registry(OptionsFor(file.path()));
    CHECK(LoadError(registry).starts_with(file.path() + ": line "));
  }
  SUBCASE("a stream twice") {
    const test::TempFile file("a: {}\nb: {}\na: {}\n");
    StreamRegistry registry(OptionsFor(file.path()));
    CHECK(LoadError(registry) == file.path() + ": line 3: this key stands twice in the same map");
  }
  SUBCASE("a stream twice, once by its setting") {
    const test::TempFile file("a: {}\n0: {stream: a}\n");
    StreamRegistry registry(OptionsFor(file.path()));
    CHECK(LoadError(registry) == file.path() + ":2: /0: stream 'a' is configured twice");
  }
  SUBCASE("no such path") {
    const test::TempFile file("a: {}\n");
    StreamRegistry registry(OptionsFor(file.path(), "x.streams"));
    CHECK(LoadError(registry) ==
          file.path() + ": there is no map of streams at 'x.streams' (stream_config_object_path)");
  }
  SUBCASE("MediaWiki's error") {
    const test::TempFile file(
        R"({"error":{"code":"toomanyvalues","info":"Too many"},"streams":{}})");
    StreamRegistry registry(OptionsFor(file.path(), "streams"));
    CHECK(LoadError(registry) == file.path() +
                                     " holds an error instead of streams: "
                                     R"({"code":"toomanyvalues","info":"Too many"})");
  }
}

TEST_CASE("StreamRegistry: a bad file changes nothing, readers keep the snapshot they began with") {
  test::TempFile file("a: {schema_title: one}\n");
  StreamRegistry registry(OptionsFor(file.path()));
  REQUIRE(registry.Load().has_value());
  const auto first = registry.Current();
  file.Write("a: [\n");
  CHECK_FALSE(registry.Load().has_value());
  CHECK(registry.Current() == first);
  CHECK(registry.generation() == 1);
  file.Write("a: {schema_title: two}\n");
  REQUIRE(registry.Load().has_value());
  CHECK(registry.generation() == 2);
  CHECK(registry.Current()->Find("a")->schema_title == "two");
  CHECK(first->Find("a")->schema_title == "one");
}

TEST_CASE("TopicOf: prefix and stream, but legacy streams stand alone") {
  CHECK(TopicOf("mediawiki.page-create", "eqiad.") == "eqiad.mediawiki.page-create");
  CHECK(TopicOf("eventlogging_NavigationTiming", "eqiad.") == "eventlogging_NavigationTiming");
  CHECK(TopicOf("eventlogging", "eqiad.") == "eqiad.eventlogging");
  CHECK(TopicOf("a", "") == "a");
}

TEST_CASE("StreamRegistry: the production configuration resolves whole") {
  const char* shared = std::getenv("SLUICE_SHARED");
  const std::string path = std::string(shared ? shared : "") + "/data/streams/production.json";
  if (!shared || !std::filesystem::exists(path)) {
    std::cout << "SKIPPED: no shared data at SLUICE_SHARED\n";
    return;
  }
  StreamRegistry registry(OptionsFor(path, "streams"));
  const auto loaded = registry.Load();
  REQUIRE_MESSAGE(loaded.has_value(), (loaded ? "" : loaded.error().message));
  const auto snapshot = registry.Current();
  CHECK(snapshot->size() == 244);
  const auto* job = snapshot->Find("mediawiki.job.cirrusSearchElasticaWrite");
  REQUIRE(job);
  CHECK(job->key == R"(/^mediawiki\.job\..+/)");
  const auto* change = snapshot->Find("mediawiki.page_change.v1");
  REQUIRE(change);
  CHECK(change->message_key_fields ==
        core::StringPairs{{"wiki_id", "wiki_id"}, {"page_id", "page.page_id"}});
  CHECK(change->schema_title == "mediawiki/page/change");
}

// What Sluice writes for the prefix eqiad. against the `topics` that consumers read.
TEST_CASE("TopicOf: is among the topics of each production stream, but for those that are known") {
  const char* shared = std::getenv("SLUICE_SHARED");
  const std::string path = std::string(shared ? shared : "") + "/data/streams/production.json";
  if (!shared || !std::filesystem::exists(path)) {
    std::cout << "SKIPPED: no shared data at SLUICE_SHARED\n";
    return;
  }
  // Eight and one that other systems produce, to topics of their own, and one whose settings ask
  // for no prefix, which the original ignores.
  std::set<std::string> known = {
      "rdf-streaming-updater.mutation.v2",
      "rdf-streaming-updater.mutation-main.v2",
      "rdf-streaming-updater.mutation-scholarly.v2",
      "rdf-streaming-updater.mutation-staging.v2",
      "rdf-streaming-updater.mutation-main-staging.v2",
      "rdf-streaming-updater.mutation-scholarly-staging.v2",
      "mediainfo-streaming-updater.mutation.v2",
      "mediainfo-streaming-updater.mutation-staging.v2",
      "webrequest.frontend.text.v1",
      "webrequest.dev0",
  };
  const std::map<std::string, std::string> names_of_regexes = {
      {R"(/^swift\.(.+\.)?upload-complete$/)", "swift.eqiad.upload-complete"},
      {R"(/^mediawiki\.job\..+/)", "mediawiki.job.refreshLinks"},
  };
  core::StreamOptions options = OptionsFor(path, "streams");
  options.topic_prefix = "eqiad.";
  const auto snapshot = ReadStreamConfig(options);
  REQUIRE(snapshot.has_value());
  std::size_t right = 0;
  for (std::size_t i = 0; i < (*snapshot)->size(); ++i) {
    const StreamSettings& entry = (*snapshot)->entry(i);
    const std::string name = entry.regex ? names_of_regexes.at(entry.key) : entry.key;
    CAPTURE(name);
    REQUIRE((*snapshot)->Find(name) == &entry);
    const std::string topic = TopicOf(name, &entry, options);
    CHECK(topic == (name.starts_with("eventlogging_") ? name : "eqiad." + name));
    bool found = false;
    const auto settings = core::ParseYamlOrJson(entry.settings_json, core::ErrorCode::kInternal);
    REQUIRE(settings.has_value());
    for (const auto& listed : settings->at("topics").as_array()) {
      const std::string_view text = listed.as_string();
      if (!text.starts_with('/')) {
        found = found || text == topic;
      } else if (const auto pattern = validate::Pattern::Compile(text.substr(1, text.size() - 2))) {
        found = found || (*pattern)->Search(topic) == validate::MatchResult::kMatch;
      }
    }
    CHECK(found != known.contains(name));
    known.erase(name);
    if (found) ++right;
  }
  CHECK(known.empty());
  CHECK(right == 234);
  options.follow_topic_prefixes = true;
  CHECK(TopicOf("webrequest.dev0", (*snapshot)->Find("webrequest.dev0"), options) ==
        "webrequest.dev0");
}

}  // namespace sluice::streams
