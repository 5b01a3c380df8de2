#include "streams/stream_query.h"

#include <doctest/doctest.h>

#include <boost/json/parse.hpp>

using namespace sluice;
using namespace sluice::streams;

namespace {

std::shared_ptr<const StreamSnapshot> Snapshot() {
  core::StreamOptions options;
  options.inline_config = R"({
    "b": {"schema_title": "x/b", "n": 1},
    "a": {"schema_title": "x/a", "n": 1, "topic_prefixes": null},
    "/^job\\..+/": {"schema_title": "x/job", "n": 2},
    "a.b": {"topics": ["t"], "schema_title": "x/a"}})";
  options.default_settings = R"({"topic_prefixes": ["e."], "canary_events_enabled": true})";
  auto snapshot = ReadStreamConfig(options);
  REQUIRE_MESSAGE(snapshot.has_value(), (snapshot ? "" : snapshot.error().message));
  return *snapshot;
}

std::string Answer(Parameters parameters, std::vector<std::string>* unknown = nullptr) {
  parameters.insert(parameters.begin(), {"action", "streamconfigs"});
  const auto reading = ReadStreamQuery(parameters);
  if (reading.error) return ErrorAnswer(*reading.error);
  std::string out;
  AppendAnswer(*Snapshot(), reading.query, out, [&](std::string_view name) {
    if (unknown != nullptr) unknown->emplace_back(name);
  });
  return out;
}

// The streams of an answer, in order.
std::string Names(const Parameters& parameters) {
  std::string names;
  const auto answer = boost::json::parse(Answer(parameters));
  for (const auto& member : answer.get_object().at("streams").get_object()) {
    names += names.empty() ? "" : " ";
    names += member.key();
  }
  return names;
}

}  // namespace

TEST_CASE("StreamQuery: all entries in declaration order, those asked for in the order of asking") {
  CHECK(Names({}) == R"(b a /^job\..+/ a.b)");
  CHECK(Names({{"streams", "a.b|a|b"}}) == "a.b a b");
  CHECK(Names({{"streams",
                "\x1f"
                "b\x1f"
                "a"}}) == "b a");
  CHECK(Names({{"streams", "b|a|b"}}) == "b a");
  CHECK(Names({{"streams", ""}}).empty());
  CHECK(Names({{"streams", "\x1f"}}).empty());
  CHECK(Names({{"streams", "|"}}).empty());
  CHECK(Names({{"streams", "a|b"}, {"streams", "b"}}) == "b");
}

TEST_CASE("StreamQuery: unknown names are left out and told") {
  std::vector<std::string> unknown;
  CHECK(Answer({{"streams", "zz|a.schema_title"}}, &unknown) == R"({"streams":{}})");
  CHECK(unknown == std::vector<std::string>{"zz", "a.schema_title"});
}

TEST_CASE("StreamQuery: a name that a regex matches has its settings, and topics of its own") {
  CHECK(Answer({{"streams", "job.x"}}) ==
        R"({"streams":{"job.x":{"topic_prefixes":["e."],"canary_events_enabled":true,)"
        R"("schema_title":"x/job","n":2,"stream":"/^job\\..+/","topics":["e.job.x"]}}})");
  CHECK(Answer({{"streams", R"(/^job\..+/)"}}) ==
        R"({"streams":{"/^job\\..+/":{"topic_prefixes":["e."],"canary_events_enabled":true,)"
        R"("schema_title":"x/job","n":2,"stream":"/^job\\..+/","topics":["/^(e\\.)job\\..+/"]}}})");
  CHECK(Answer({{"streams", "a"}}) ==
        R"({"streams":{"a":{"topic_prefixes":null,"canary_events_enabled":true,)"
        R"("schema_title":"x/a","n":1,"stream":"a","topics":["a"]}}})");
}

TEST_CASE("StreamQuery: constraints select among the streams that are asked for") {
  CHECK(Names({{"constraints", "n=1"}}) == "b a");
  CHECK(Names({{"constraints", "n=1"}, {"streams", "job.x|a"}}) == "a");
  CHECK(Names({{"constraints", "n=2"}, {"streams", "job.x|a"}}) == "job.x");
  CHECK(Names({{"constraints", "n=1|schema_title=x%2Fa"}}) == "a");
  CHECK(Names({{"constraints", "canary_events_enabled=1"}}) == R"(b a /^job\..+/ a.b)");
  CHECK(Names({{"constraints", "stream=job.y"}}) == R"(/^job\..+/)");
  CHECK(Names({{"constraints", "stream=a"}}) == "a");
  CHECK(Names({{"constraints", ""}}) == R"(b a /^job\..+/ a.b)");
  CHECK(Names({{"constraints", "topics[0]=t"}}) == "a.b");
  CHECK(Names({{"constraints", "topics[0]=e.b"}}).empty());
  CHECK(Names({{"constraints", "\x1fn=1\x1fschema_title=x/b"}}) == "b");
}

TEST_CASE("StreamQuery: more than 250 values are refused") {
  std::string many = "0";
  for (int i = 1; i < 250; ++i) many += "|" + std::to_string(i);
  CHECK(Answer({{"streams", many}}) == R"({"streams":{}})");
  CHECK(Answer({{"streams", many + "|250"}}) ==
        R"({"error":{"code":"toomanyvalues","info":"Too many values supplied for parameter )"
        R"(\"streams\". The limit is 250.","parameter":"streams","limit":250,"lowlimit":250,)"
        R"("highlimit":500}})");
  // Repetitions count before they collapse.
  std::string same = "a";
  for (int i = 1; i < 251; ++i) same += "|a";
  CHECK(Answer({{"streams", same}}).starts_with(R"({"error")"));
  CHECK(Answer({{"constraints", many + "|250"}}).starts_with(R"({"error")"));
}

TEST_CASE("StreamQuery: warnings for what nobody reads, none for what MediaWiki knows") {
  CHECK(Answer({{"streams", "zz"}, {"format", "xml"}, {"formatversion", "1"}, {"maxage", "9"}}) ==
        R"({"streams":{}})");
  CHECK(Answer({{"streams", "zz"}, {"x", "1"}}) ==
        R"({"warnings":{"main":{"warnings":"Unrecognized parameter: x."}},"streams":{}})");
  CHECK(
      Answer({{"streams", "zz"}, {"x", "1"}, {"y", ""}, {"x", ""}, {"all_settings", "truefoo"}}) ==
      R"({"warnings":{"main":{"warnings":"Unrecognized parameters: x, y."},)"
      R"("streamconfigs":{"warnings":"The parameter \"all_settings\" has been deprecated."}},)"
      R"("streams":{}})");
}

TEST_CASE("StreamQuery: another action is an error") {
  CHECK(ReadStreamQuery({}).error->code == "missingparam");
  CHECK(ReadStreamQuery({{"action", "query"}}).error->code == "badvalue");
  CHECK_FALSE(ReadStreamQuery({{"action", "query"}, {"action", "streamconfigs"}}).error);
}

TEST_CASE("StreamQuery: names between commas or bars, each once") {
  CHECK(SplitNames("a,b|a||c,", ",|") == std::vector<std::string>{"a", "b", "c"});
  CHECK(SplitNames("", ",|").empty());
  std::string out;
  AppendNamed(*Snapshot(), {"job.x", "zz"}, ServedAs::kAsRead, out, [](std::string_view) {});
  CHECK(out == R"({"job.x":{"topic_prefixes":["e."],"canary_events_enabled":true,)"
               R"("schema_title":"x/job","n":2,"stream":"/^job\\..+/"}})");
}
