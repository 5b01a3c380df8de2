#include <doctest/doctest.h>

#include <chrono>

#include "unit/validate/engine_check.h"

// Sizes and depths that must neither take the stack nor the time.
namespace sluice {
namespace {

using test::Check;
using test::Problem;

class Stopwatch {
 public:
  ~Stopwatch() {
    const auto spent = std::chrono::steady_clock::now() - begin_;
    // Generous for sanitizers and loaded machines; what it guards against takes minutes or forever.
    CHECK(spent < std::chrono::seconds(20));
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string Nested(int depth, const std::string& open, const std::string& inner,
                   const std::string& close) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  text += inner;
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

TEST_CASE("Bounds: thousands of nested allOf are refused with a reason") {
  const Stopwatch watch;
  CHECK(Problem(Nested(2000, R"({"allOf":[)", "{}", "]}")) ==
        "/t/1.0.0: nests deeper than 1000 levels");
  CHECK(Check(Nested(400, R"({"allOf":[)", R"({"type":"null"})", "]}"), "1") ==
        "'' should be null");
}

TEST_CASE("Bounds: an enum of ten thousand members") {
  const Stopwatch watch;
  std::string schema = R"({"enum":[)";
  for (int i = 0; i < 10000; ++i) {
    schema +=
        "\"common prefix " + std::to_string(i) + " common suffix\"," + std::to_string(i) + ",";
  }
  schema += "null]}";
  CHECK(Check(schema, R"("common prefix 9999 common suffix")") == "");
  CHECK(Check(schema, "9999") == "");
  CHECK(Check(schema, R"("common prefix 10000 common suffix")") ==
        "'' should be equal to one of the allowed values");
}

TEST_CASE("Bounds: references that lead to each other are refused or exhausted") {
  const Stopwatch watch;
  CHECK(Problem(R"({"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},)"
                R"("b":{"$ref":"#/definitions/a"}}})") != "");
  CHECK(Check(R"({"allOf":[{"$ref":"#"},{"$ref":"#"}]})", "1").starts_with("exhausted: "));
  std::string doubling = R"({"$ref":"#/definitions/d0","definitions":{)";
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref":"#/definitions/d)" + std::to_string(i + 1) + R"("})";
    doubling += "\"d" + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]},";
  }
  doubling += R"("d40":{"type":"integer"}}})";
  CHECK(Check(doubling, "1").starts_with("exhausted: "));
}

TEST_CASE("Bounds: an event a thousand deep under a recursive schema") {
  const Stopwatch watch;
  const char* schema =
      R"({"properties":{"a":{"allOf":[{"$ref":"#"}]}},"additionalProperties":false})";
  const std::string event = Nested(999, R"({"a":)", "{}", "}");
  CHECK(Check(schema, event) == "");
  CHECK(Check(schema, Nested(999, R"({"a":)", R"({"b":1})", "}")) != "");
}

TEST_CASE("Bounds: uniqueItems over a hundred thousand items") {
  const Stopwatch watch;
  std::string event = "[";
  for (int i = 0; i < 100000; ++i) event += "{\"k\":" + std::to_string(i) + "},";
  CHECK(Check(R"({"uniqueItems":true})", event + "0]") == "");
  CHECK(Check(R"({"uniqueItems":true})", event + R"({"k":7}])") ==
        "'' should NOT have duplicate items (items ## 7 and 100000 are identical)");
}

TEST_CASE("Bounds: of an event of many wrong elements the first ten thousand are told") {
  const Stopwatch watch;
  std::string event = "[1";
  for (int i = 1; i < 50000; ++i) event += ",1";
  const std::string text = Check(R"({"items":{"type":"null"}})", event + "]");
  CHECK(text.ends_with("'[9999]' should be null"));
}

TEST_CASE("Bounds: a long schema of references compiles in linear time") {
  const Stopwatch watch;
  std::string schema = R"({"definitions":{"d":{"properties":{)";
  for (int i = 0; i < 5000; ++i) schema += "\"p" + std::to_string(i) + R"(":{"type":"null"},)";
  schema += R"("x":{"$ref":"#/definitions/e"}}},"e":{"type":"null"}},"properties":{)";
  for (int i = 0; i < 5000; ++i) {
    schema += "\"p" + std::to_string(i) + R"(":{"$ref":"#/definitions/d"},)";
  }
  CHECK(Problem(schema + R"("x":{}}})") == "");
}

TEST_CASE("Bounds: large objects compare without trying all pairs") {
  const Stopwatch watch;
  std::string one = "{";
  std::string other = "{";
  const int count = 100000;
  for (int i = 0; i < count; ++i) {
    one += "\"key" + std::to_string(i) + "\":1,";
    other += "\"key" + std::to_string(count - 1 - i) + "\":1,";
  }
  const std::string event = "[" + one + "\"x\":1}," + other + "\"x\":1}]";
  CHECK(Check(R"({"uniqueItems":true})", event) ==
        "'' should NOT have duplicate items (items ## 0 and 1 are identical)");
}

}  // namespace
}  // namespace sluice
