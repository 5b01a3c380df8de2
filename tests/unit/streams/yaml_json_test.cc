#include "core/yaml_json.h"

#include <doctest/doctest.h>

#include <boost/json/serialize.hpp>
#include <cmath>
#include <limits>

namespace sluice::core {
namespace {

boost::json::value Parse(std::string_view text) {
  auto value = ParseYamlOrJson(text, ErrorCode::kInternal);
  REQUIRE_MESSAGE(value.has_value(), (value ? "" : value.error().message));
  return *value;
}

std::string Text(std::string_view text) { return boost::json::serialize(Parse(text)); }

std::string Fault(std::string_view text, const DocumentLimits& limits = {}) {
  auto value = ParseYamlOrJson(text, ErrorCode::kSchemaUnusable, limits);
  REQUIRE(!value.has_value());
  CHECK(value.error().code == ErrorCode::kSchemaUnusable);
  return value.error().message;
}

}  // namespace

TEST_CASE("ParseYamlOrJson: types unquoted scalars as js-yaml does") {
  struct Row {
    const char* yaml;
    boost::json::value want;
  };
  const Row rows[] = {
      {"", nullptr},
      {"~", nullptr},
      {"null", nullptr},
      {"NULL", nullptr},
      {"nUll", "nUll"},
      {"true", true},
      {"False", false},
      {"yes", "yes"},
      {"on", "on"},
      {"12", 12},
      {"-12", -12},
      {"+12", 12},
      {"0", 0},
      {"012", 12},
      {"0x1F", 31},
      {"0o17", 15},
      {"0b101", 5},
      {"1_000", 1000},
      {"_1", "_1"},
      {"1_", "1_"},
      {"0x", "0x"},
      {"1.0", 1},
      {"1.5", 1.5},
      {".5", 0.5},
      {"1.", 1},
      {".", "."},
      {"1e17", 1e17},
      {"1e3", 1000},
      {"1e", "1e"},
      {"1.5e+300", 1.5e300},
      {"18446744073709552000", 18446744073709552000.0},
      {"9007199254740993", 9007199254740992},
      {"9007199254740994", 9007199254740994.0},
      {"-9223372036854775808", -9223372036854775808.0},
      {"0.1", 0.1},
      {"123456789.123456789e-10", 123456789.123456789e-10},
      {"1.0.0", "1.0.0"},
      {"190:20:30", "190:20:30"},
      {"2020-01-02", "2020-01-02"},
      {"2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"},
      {"'12'", "12"},
      {"\"true\"", "true"},
      {"!!str 12", "12"},
      {"!!int '12'", 12},
      {"!!float '12'", 12},
      {"!!bool 'true'", true},
      {"!!null ''", nullptr},
  };
  for (const auto& row : rows) {
    CAPTURE(row.yaml);
    const auto got = Parse(row.yaml);
    CHECK(boost::json::serialize(got) == boost::json::serialize(row.want));
    CHECK(got.kind() == row.want.kind());
  }
  CHECK(Parse(".inf").as_double() == std::numeric_limits<double>::infinity());
  CHECK(Parse("-.INF").as_double() == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(Parse(".nan").as_double()));
}

TEST_CASE("ParseYamlOrJson: keeps the order of members, in YAML and in JSON") {
  CHECK(Text("z: 1\na: 2\nm: [3, {y: 4, b: 5}]\n") == R"({"z":1,"a":2,"m":[3,{"y":4,"b":5}]})");
  CHECK(Text(R"({"z":1,"a":2,"10":3,"b":{"y":null,"x":[]}})") ==
        R"({"z":1,"a":2,"10":3,"b":{"y":null,"x":[]}})");
}

TEST_CASE("ParseYamlOrJson: keys are their text") {
  CHECK(Text("404: a\ntrue: b\n'<<': c\n") == R"({"404":"a","true":"b","<<":"c"})");
}

TEST_CASE("ParseYamlOrJson: block scalars, folded and literal") {
  CHECK(Text("a: >\n  x\n  y\n\nb: |\n  x\n  y\nc: |-\n  1\n") ==
        R"({"a":"x y\n","b":"x\ny\n","c":"1"})");
}

TEST_CASE("ParseYamlOrJson: anchors and aliases are copies") {
  CHECK(Text("a: &x {k: [1, 2]}\nb: *x\nc: &y 7\nd: *y\n") ==
        R"({"a":{"k":[1,2]},"b":{"k":[1,2]},"c":7,"d":7})");
  CHECK(Text("&k key: 1\nother: *k\n") == R"({"key":1,"other":"key"})");
}

TEST_CASE("ParseYamlOrJson: merge keys give way to explicit ones, the first map wins") {
  CHECK(Text("base: &b {x: 1, y: 2}\nt:\n  <<: *b\n  y: 3\n  z: 4\n") ==
        R"({"base":{"x":1,"y":2},"t":{"x":1,"y":3,"z":4}})");
  CHECK(Text("t:\n  y: 3\n  <<: [{x: 1, y: 2}, {x: 9, w: 5}]\n") == R"({"t":{"y":3,"x":1,"w":5}})");
  CHECK(Fault("a: 1\n<<: 5\n") == "line 2: << takes a map or a list of maps");
}

TEST_CASE("ParseYamlOrJson: faults carry their line") {
  CHECK(Fault("a: 1\nb: 2\na: 3\n") == "line 3: this key stands twice in the same map");
  CHECK(Fault("a: 1\nb: [1, 2\n").starts_with("line "));
  CHECK(Fault("a: !!set {}\n").starts_with("line 1: unknown tag"));
  CHECK(Fault("a: 1\n---\nb: 2\n") == "line 2: only one document is expected");
  CHECK(Fault("a: *nope\n").starts_with("line 1: "));
  CHECK(Fault("a: 1\nb: &x [1, *x]\n") == "line 2: this alias stands inside of what it names");
  CHECK(Fault("{\n\"a\": 1\n\"b\": [}\n").starts_with("line 3: "));
  CHECK(Fault("{\"a\": 1}\n\nx").starts_with("line 3: "));
  CHECK(Fault("? {a: 1}\n: 2\n") == "line 1: a key has to be a scalar");
}

TEST_CASE("ParseYamlOrJson: neither nesting nor aliases exhaust the process") {
  DocumentLimits limits;
  limits.depth = 5;
  CHECK(Fault("[[[[[[1]]]]]]", limits).starts_with("line 1: "));
  CHECK(ParseYamlOrJson("[[[[[1]]]]]", ErrorCode::kInternal, limits).has_value());
  std::string deep(100000, '[');
  CHECK(Fault(deep).starts_with("line 1: "));

  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j ? ", " : "") + before;
    bomb += "]\n";
  }
  CHECK(Fault(bomb).ends_with(": too many values"));
}

TEST_CASE("ParseYamlOrJson: JSON numbers are JavaScript's, duplicate keys count last") {
  CHECK(Parse("[18446744073709551615]").at(0).as_double() == 18446744073709551616.0);
  CHECK(Parse("[0.3]").at(0).as_double() == 0.3);
  CHECK(Parse("[123456789.123456789e-10]").at(0).as_double() == 123456789.123456789e-10);
  CHECK(Parse("[-0.000001234567890123456789]").at(0).as_double() == -0.000001234567890123456789);
  CHECK(Parse("[1e400]").at(0).as_double() == std::numeric_limits<double>::infinity());
  CHECK(Text(R"({"a":1,"b":2,"a":"3\ud83d\ude00"})") == "{\"a\":\"3\xf0\x9f\x98\x80\",\"b\":2}");
}

TEST_CASE("ParseYamlOrJson: a byte order mark and tabs in JSON do no harm") {
  CHECK(Text("\xef\xbb\xbf{\t\"a\":\t1\r\n}") == R"({"a":1})");
  CHECK(Text("\xef\xbb\xbf"
             "a: 1") == R"({"a":1})");
  CHECK(Text("{a: 1, b: [x]}") == R"({"a":1,"b":["x"]})");
}

TEST_CASE("LinesOf: finds members and elements by pointer") {
  const std::string text = "streams:\n  a.b:\n    schema_title: x\n  /r/:\n    - 1\n    - {k: 2}\n";
  CHECK(LinesOf(text, {"", "/streams", "/streams/a.b/schema_title", "/streams/~1r~1/1",
                       "/streams/~1r~1/1/k", "/nope"}) ==
        std::vector<std::size_t>{1, 1, 3, 6, 6, 0});
  CHECK(LinesOf("{\n\"a\":\n{\"b\": 1}}", {"/a", "/a/b"}) == std::vector<std::size_t>{2, 3});
}

}  // namespace sluice::core
