#include "streams/merge_settings.h"

#include <doctest/doctest.h>

#include <boost/json/parse.hpp>
#include <string>

#include "streams/settings_reader.h"

namespace sluice::streams {
namespace {

std::string Merged(const char* under, const char* over) {
  std::string text;
  AppendJson(text, MergeSettings(boost::json::parse(under), boost::json::parse(over)));
  return text;
}

}  // namespace

TEST_CASE("MergeSettings: each row of the rules") {
  struct Row {
    const char* what;
    const char* under;
    const char* over;
    const char* want;
  };
  const Row rows[] = {
      {"maps, recursively", R"({"a":{"x":1,"y":2}})", R"({"a":{"y":3,"z":4},"b":5})",
       R"({"a":{"x":1,"y":3,"z":4},"b":5})"},
      {"lists by index", R"({"a":["a","b"]})", R"({"a":["c"]})", R"({"a":["c","b"]})"},
      {"a longer list", R"({"a":["a"]})", R"({"a":["c","d"]})", R"({"a":["c","d"]})"},
      {"maps in lists", R"({"a":[{"x":1,"y":2}]})", R"({"a":[{"y":3}]})",
       R"({"a":[{"x":1,"y":3}]})"},
      {"an empty list changes nothing", R"({"a":["a"]})", R"({"a":[]})", R"({"a":["a"]})"},
      {"an empty list over nothing is there", R"({})", R"({"a":[]})", R"({"a":[]})"},
      {"an empty map changes nothing", R"({"a":{"x":1}})", R"({"a":{}})", R"({"a":{"x":1}})"},
      {"a scalar over a map", R"({"a":{"x":1}})", R"({"a":false})", R"({"a":false})"},
      {"a scalar over a list", R"({"a":[1]})", R"({"a":"s"})", R"({"a":"s"})"},
      {"null over a map", R"({"a":{"x":1}})", R"({"a":null})", R"({"a":null})"},
      {"null over a list", R"({"a":["p"]})", R"({"a":null})", R"({"a":null})"},
      {"null over a scalar", R"({"a":1})", R"({"a":null})", R"({"a":null})"},
      {"a map over a scalar", R"({"a":1})", R"({"a":{"x":1}})", R"({"a":{"x":1}})"},
      {"a map over null", R"({"a":null})", R"({"a":{"x":1}})", R"({"a":{"x":1}})"},
      {"an empty list over a scalar", R"({"a":1})", R"({"a":[]})", R"({"a":[]})"},
      {"defaults stand first", R"({"d":1})", R"({"b":2,"d":3,"a":4})", R"({"d":3,"b":2,"a":4})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(Merged(row.under, row.over) == row.want);
  }
}

TEST_CASE("MergeSettings: the same over its own result changes nothing") {
  const char* under = R"({"l":["a","b"],"n":{"x":1},"p":["q"]})";
  const char* over = R"({"l":["c"],"n":null,"p":[]})";
  const std::string once = Merged(under, over);
  CHECK(Merged(under, once.c_str()) == once);
}

}  // namespace sluice::streams
