#include "streams/settings_constraints.h"

#include <doctest/doctest.h>

#include <boost/json/parse.hpp>

using sluice::streams::PhpString;
using sluice::streams::SettingsConstraints;

namespace {

constexpr const char* kSettings = R"({
  "schema_title": "mediawiki/nonya", "sample": {"rate": 0.5, "unit": "session"},
  "canary_events_enabled": true, "off": false, "zero": 0, "many": 12, "nothing": null, "empty": "",
  "producers": {"one": {"deep": false}, "two": true, "three": 0.1, "four": ["hello", "world"]},
  "with.dot": "x", "none": [], "maps": [{"a": 1}]})";

bool Match(const std::vector<std::string>& pieces, const char* settings = kSettings) {
  return SettingsConstraints::Parse(pieces).Match(
      boost::json::parse(settings).get_object(),
      [](std::string_view name) { return name == "some.stream"; });
}

}  // namespace

TEST_CASE("SettingsConstraints: scalars are compared as PHP writes them") {
  CHECK(Match({"schema_title=mediawiki/nonya"}));
  CHECK_FALSE(Match({"schema_title=mediawiki/other"}));
  CHECK(Match({"canary_events_enabled=1"}));
  CHECK_FALSE(Match({"canary_events_enabled=true"}));
  CHECK_FALSE(Match({"canary_events_enabled="}));
  CHECK(Match({"off="}));
  CHECK(Match({"off"}));
  CHECK_FALSE(Match({"off=0"}));
  CHECK_FALSE(Match({"off=false"}));
  CHECK(Match({"zero=0"}));
  CHECK(Match({"many=12"}));
  CHECK_FALSE(Match({"many=12.0"}));
  CHECK(Match({"empty="}));
  CHECK(Match({"sample[rate]=0.5"}));
  CHECK(Match({"producers[three]=0.1"}));
}

TEST_CASE("SettingsConstraints: what is absent or null never matches") {
  CHECK_FALSE(Match({"nothing="}));
  CHECK_FALSE(Match({"unheard.of="}));
  CHECK_FALSE(Match({"producers[five]="}));
  CHECK_FALSE(Match({"=x"}));
}

TEST_CASE("SettingsConstraints: nested keys, whose dots mean nothing") {
  CHECK(Match({"producers[one][deep]="}));
  CHECK_FALSE(Match({"producers[one][deep]=1"}));
  CHECK(Match({"with.dot=x"}));
  CHECK_FALSE(Match({"producers.two=1"}));
  CHECK_FALSE(Match({"producers=1"}));                 // scalar against map
  CHECK_FALSE(Match({"schema_title[x]=1"}));           // map against scalar
  CHECK_FALSE(Match({"canary_events_enabled[0]=1"}));  // list against scalar
}

TEST_CASE("SettingsConstraints: all constraints have to match") {
  CHECK(Match({"off=", "zero=0"}));
  CHECK_FALSE(Match({"off=", "zero=1"}));
  CHECK_FALSE(Match({"zero=1", "off="}));
  CHECK(Match({"producers[two]=1", "producers[three]=0.1", "producers[one][deep]"}));
  CHECK_FALSE(Match({"producers[two]=1", "producers[three]=0.2"}));
  CHECK(Match({}));
  CHECK(Match({""}));
}

TEST_CASE("SettingsConstraints: a repeated key is a list, of which every element is wanted") {
  CHECK(Match({"producers[four]=hello", "producers[four]=world"}));
  CHECK(Match({"producers[four]=world", "producers[four]=hello"}));
  CHECK_FALSE(Match({"producers[four]=hello", "producers[four]=quux"}));
  CHECK_FALSE(Match({"producers[four]=hello"}));  // one value is no list
  CHECK(Match({"producers[four][0]=world"}));     // a list of one, whatever the order
  CHECK(Match({"producers[four][1]=world"}));     // no list: the element of that index
  CHECK_FALSE(Match({"producers[four][1]=hello"}));
  CHECK_FALSE(Match({"producers[four][]=hello"}));
  CHECK_FALSE(Match({"many=12", "many=12"}));  // list against scalar
  CHECK_FALSE(Match({"none[0]=x"}));
  CHECK(Match({"maps[0][a]=1"}));  // PHP compares the maps as the word Array
}

TEST_CASE("SettingsConstraints: pieces are decoded once more, and '&' separates pairs") {
  CHECK(Match({"schema_title=mediawiki%2Fnonya"}));
  CHECK(Match({"sample%5Brate%5D=0.5"}));
  CHECK(Match({"off=&zero=0"}));
  CHECK_FALSE(Match({"off=&zero=7"}));
  CHECK(Match({"?off="}));
  CHECK(Match({"zero=0=7"}));       // what is behind a second '=' is dropped
  CHECK(Match({"zero=7&zero=0"}));  // in one piece the last one counts
  CHECK(Match({"a=x y"}, R"({"a":"x y"})"));
  CHECK(Match({"a=x+y"}, R"({"a":"x y"})"));
  CHECK(Match({"a=%zz%4"}, R"({"a":"%zz%4"})"));
  CHECK(Match({"a[b]=1&a[c]=2"}, R"({"a":{"b":1,"c":2}})"));
  CHECK_FALSE(Match({"a[b]=1&a[c]=2"}, R"({"a":{"b":1,"c":3}})"));
  // array_merge is not recursive: the second replaces the first.
  CHECK(Match({"a[b][x]=9&a[b][y]=2"}, R"({"a":{"b":{"x":1,"y":2}}})"));
}

TEST_CASE("SettingsConstraints: scalars and maps of one key are merged as PHP does") {
  CHECK(Match({"a=1", "a[b]=2"}, R"({"a":{"0":"1","b":"2"}})"));
  CHECK_FALSE(Match({"a=1", "a[b]=2"}, R"({"a":{"b":"2"}})"));
  CHECK(Match({"a[b]=1", "a[b]=2"}, R"({"a":{"b":["2","1","0"]}})"));
  CHECK(Match({"a[0]=x", "a[0]=y"}, R"({"a":["y","x"]})"));
}

TEST_CASE("SettingsConstraints: stream is asked for, not looked up") {
  const char* settings = R"({"stream":"/^some/","x":1})";
  CHECK(Match({"stream=some.stream"}, settings));
  CHECK_FALSE(Match({"stream=/^some/"}, settings));
  CHECK(Match({"stream=some.stream", "x=1"}, settings));
  CHECK_FALSE(Match({"stream=some.stream", "x=2"}, settings));
  CHECK_FALSE(Match({"stream=some.stream", "stream=some.stream"}, settings));
}

TEST_CASE("SettingsConstraints: below ten levels everything matches") {
  std::string key = "a";
  std::string json = "{\"a\":";
  for (int level = 2; level <= 11; ++level) {
    key += "[a]";
    json += "{\"a\":";
  }
  json += "1" + std::string(11, '}');
  CHECK(Match({key + "=1"}, json.c_str()));
  CHECK(Match({key + "=2"}, json.c_str()));  // the eleventh level is not looked at
  CHECK_FALSE(Match({key.substr(0, key.size() - 3) + "=1"}, json.c_str()));
  const std::string endless = "a" + std::string(100000, '[');
  CHECK_FALSE(Match({endless + "=1"}, json.c_str()));
}

TEST_CASE("SettingsConstraints: numbers as PHP prints them") {
  const std::pair<const char*, const char*> rows[] = {{"0.1", "0.1"},
                                                      {"1.0", "1"},
                                                      {"-0.0", "-0"},
                                                      {"0.30000000000000004", "0.3"},
                                                      {"1e14", "1.0E+14"},
                                                      {"1e13", "10000000000000"},
                                                      {"123456789.125", "123456789.125"},
                                                      {"1.5e25", "1.5E+25"},
                                                      {"0.0001", "0.0001"},
                                                      {"0.00001", "1.0E-5"},
                                                      {"-2.5e-7", "-2.5E-7"},
                                                      {"100", "100"},
                                                      {"1e300", "1.0E+300"}};
  for (const auto& [json, text] : rows) {
    CAPTURE(json);
    CHECK(PhpString(boost::json::parse(json)) == text);
  }
  CHECK(PhpString(nullptr).empty());
  CHECK(PhpString(boost::json::array{}) == "Array");
}
