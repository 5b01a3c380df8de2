#include "streams/stream_topics.h"

#include <doctest/doctest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

using namespace sluice::streams;

namespace {

// The settings of the entry `key` as they are served to who asks for `name`.
std::string Served(const char* settings, std::string_view key, std::string_view name) {
  std::string text;
  const auto topics = AppendSettings(text, key, boost::json::parse(settings).get_object());
  std::string out;
  AppendServed(out, text, topics, name);
  return out;
}

}  // namespace

TEST_CASE("Topics: without prefixes the stream itself") {
  CHECK(Served(R"({"stream":"a.b"})", "a.b", "a.b") == R"({"stream":"a.b","topics":["a.b"]})");
  CHECK(Served(R"({"topic_prefixes":null})", "a.b", "a.b") ==
        R"({"topic_prefixes":null,"topics":["a.b"]})");
  CHECK(Served("{}", "/^a/", "/^a/") == R"({"topics":["/^a/"]})");
  CHECK(Served("{}", "/^a/", "abc") == R"({"topics":["abc"]})");
}

TEST_CASE("Topics: each prefix before the name") {
  const char* settings = R"({"topic_prefixes":["eqiad.","codfw."]})";
  CHECK(Served(settings, "a", "a") ==
        R"({"topic_prefixes":["eqiad.","codfw."],"topics":["eqiad.a","codfw.a"]})");
  CHECK(Served(R"({"topic_prefixes":[]})", "a", "a") == R"({"topic_prefixes":[],"topics":[]})");
}

TEST_CASE("Topics: the prefixes inside a regex, unless a name was asked for") {
  const char* settings = R"({"topic_prefixes":["eqiad.","b+c."]})";
  const auto topics_of = [&](std::string_view key, std::string_view name) {
    const auto served = boost::json::parse(Served(settings, key, name));
    return boost::json::serialize(served.get_object().at("topics"));
  };
  CHECK(topics_of("/^job\\..+/", "/^job\\..+/") == R"(["/^(eqiad\\.|b\\+c\\.)job\\..+/"])");
  CHECK(topics_of("/job/", "/job/") == R"(["/(eqiad\\.|b\\+c\\.)job/"])");
  CHECK(topics_of("/^job/i", "/^job/i") == R"(["/^(eqiad\\.|b\\+c\\.)job/i/"])");
  CHECK(topics_of("/^job\\..+/", "job.x") == R"(["eqiad.job.x","b+c.job.x"])");
  CHECK(Served(R"({"topic_prefixes":[]})", "/^a/", "/^a/") ==
        R"({"topic_prefixes":[],"topics":["/^()a/"]})");
  // preg_quote's list, and '/' is not in it.
  ServedTopics quoted;
  quoted.prefixes = std::vector<std::string>{".\\+*?[^]$(){}=!<>|:-#/_a"};
  CHECK(ComputeTopics("/x/", quoted)[0] == R"(/(\.\\\+\*\?\[\^\]\$\(\)\{\}\=\!\<\>\|\:\-\#/_a)x/)");
}

TEST_CASE("Topics: configured ones stay as they are") {
  const char* settings = R"({"topics":["t"],"topic_prefixes":["e."],"stream":"a"})";
  CHECK(Served(settings, "a", "a") == settings);
  CHECK(Served(R"({"topics":["/^t/"],"stream":"/^a/"})", "/^a/", "abc") ==
        R"({"topics":["/^t/"],"stream":"/^a/"})");
  CHECK(Served(R"({"topics":[],"stream":"a"})", "a", "a") == R"({"topics":[],"stream":"a"})");
  CHECK(Served(R"({"x":1,"topics":null,"y":2})", "a", "a") == R"({"x":1,"topics":["a"],"y":2})");
}

TEST_CASE("Topics: those of another server's answer are computed anew for a name") {
  const char* regex = R"({"topic_prefixes":["e."],"stream":"/^job/","topics":["/^(e\\.)job/"]})";
  CHECK(Served(regex, "/^job/", "/^job/") == regex);
  CHECK(Served(regex, "/^job/", "job.x") ==
        R"({"topic_prefixes":["e."],"stream":"/^job/","topics":["e.job.x"]})");
  // Before `stream` they were configured, even if they are what would be computed.
  const char* configured =
      R"({"topic_prefixes":["e."],"topics":["/^(e\\.)job/"],"stream":"/^job/"})";
  CHECK(Served(configured, "/^job/", "job.x") == configured);
  const char* others = R"({"stream":"/^job/","topics":["/^(f\\.)job/"]})";
  CHECK(Served(others, "/^job/", "job.x") == others);
}
