#include "validate/reader.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "support/padded.h"
#include "validate/editable_event.h"
#include "validate/json_string.h"

namespace sluice::validate {
namespace {

struct Parsed {
  Reader reader;
  Document document;
  test::Padded text;
  core::Result<void> result;
  explicit Parsed(std::string_view json, ReadOptions options = {})
      : text(json), result(reader.Read(text.view(), options, document)) {}
  std::string error() const { return result.has_value() ? "accepted" : result.error().message; }
};

TEST_CASE("Reader: nodes carry kinds, texts and counts") {
  Parsed p(R"({"a":[1,-2.5e3,"x"],"b":{},"c":true , "d" : null})");
  REQUIRE(p.result.has_value());
  const Node* root = p.document.nodes.data();
  CHECK(root->kind() == Kind::kObject);
  CHECK(Document::Count(root) == 4);
  const Node* a = p.document.Find(root, "a");
  REQUIRE(a != nullptr);
  CHECK(Document::Count(a) == 3);
  CHECK(p.document.Number(a[1]) == 1);
  CHECK(p.document.Number(a[2]) == -2500);
  CHECK(p.document.Text(a[2]) == "-2.5e3");
  CHECK(p.document.String(a[3]) == "x");
  CHECK(p.document.Find(root, "b")->inside == 0);
  CHECK(p.document.Find(root, "d")->kind() == Kind::kNull);
  CHECK(p.document.Find(root, "e") == nullptr);
}

TEST_CASE("Reader: accepts what JSON.parse accepts and simdjson's document does not") {
  CHECK(std::isinf(Parsed("[1e400]").document.Number(Parsed("[1e400]").document.nodes[1])));
  Parsed numbers(
      "[1e400,-1e400,1e-400,123456789012345678901234567890,-0,0.1e+2,18446744073709551616]");
  REQUIRE(numbers.result.has_value());
  const Node* n = numbers.document.nodes.data() + 1;
  CHECK(numbers.document.Number(n[0]) == HUGE_VAL);
  CHECK(numbers.document.Number(n[1]) == -HUGE_VAL);
  CHECK(numbers.document.Number(n[2]) == 0);
  CHECK(numbers.document.Number(n[3]) == 123456789012345678901234567890.0);
  CHECK(std::signbit(numbers.document.Number(n[4])));
  CHECK(numbers.document.Number(n[5]) == 10);
  CHECK(numbers.document.Number(n[6]) == 18446744073709551616.0);
  CHECK(Parsed("\xEF\xBB\xBF{}").result.has_value());
  CHECK(Parsed(" \t\r\n{} \n").result.has_value());
  Parsed lone(R"(["\ud800","a\udc00b","\ud83d\ude00","\ud83d\ud83d\ude00","\u0000"])");
  REQUIRE(lone.result.has_value());
  CHECK(lone.document.String(lone.document.nodes[1]) == "\xED\xA0\x80");
  CHECK(lone.document.String(lone.document.nodes[2]) ==
        "a\xED\xB0\x80"
        "b");
  CHECK(lone.document.String(lone.document.nodes[3]) == "\xF0\x9F\x98\x80");
  CHECK(lone.document.String(lone.document.nodes[4]) == "\xED\xA0\xBD\xF0\x9F\x98\x80");
  CHECK(lone.document.String(lone.document.nodes[5]) == std::string_view("\0", 1));
}

TEST_CASE("Reader: ill-formed UTF-8 is replaced and counted") {
  Parsed p("{\"a\":\"\xFF\x28\xC3\"}");
  REQUIRE(p.result.has_value());
  CHECK(p.reader.replaced() == 2);
  CHECK(p.document.String(*p.document.Find(p.document.nodes.data(), "a")) ==
        "\xEF\xBF\xBD(\xEF\xBF\xBD");
}

TEST_CASE("Reader: refuses what JSON.parse refuses, naming the byte") {
  const auto error = [](std::string_view text) { return Parsed(text).error(); };
  CHECK(error("") == "Body is not JSON: only blanks, no value at byte 0");
  CHECK(error("  ") == "Body is not JSON: only blanks, no value at byte 0");
  CHECK(error("{\"a\":") == "Body is not JSON: unexpected end of the text at byte 5");
  CHECK(error("{} x") == "Body is not JSON: text after the end of the value at byte 3");
  CHECK(error("[1,]") == "Body is not JSON: unexpected ']' at byte 3");
  CHECK(error("{,}") == "Body is not JSON: unexpected ',' at byte 1");
  CHECK(error("{\"a\":1,}") == "Body is not JSON: unexpected '}' at byte 7");
  CHECK(error("{\"a\" 1}") == "Body is not JSON: unexpected '1' at byte 5");
  CHECK(error("[\"a\" \"b\"]") == "Body is not JSON: unexpected '\"' at byte 5");
  CHECK(error("[\"a\"b]") == "Body is not JSON: unexpected 'b' at byte 4");
  CHECK(error("[tru]") == "Body is not JSON: unknown word (strings need double quotes) at byte 1");
  CHECK(error("[truex]") ==
        "Body is not JSON: unknown word (strings need double quotes) at byte 1");
  CHECK(error("['a']") == "Body is not JSON: unexpected ''' at byte 1");
  CHECK(error("[\"a]") == "Body is not JSON: string without end that begins at byte 1");
  CHECK(error("[\"a\x01\"]") ==
        "Body is not JSON: control character in a string (write it as an escape) at byte 3");
  CHECK(error("[\"\\x\"]") == "Body is not JSON: bad escape in a string at byte 2");
  CHECK(error("[\"\\u12g4\"]") == "Body is not JSON: bad escape in a string at byte 2");
  CHECK(error("\xEF\xBB\xBF[}") == "Body is not JSON: unexpected '}' at byte 4");
  for (const std::string number :
       {"01", "1.", ".5", "-", "+1", "1e", "1e+", "0x1", "1a", "--1", "-01", "Infinity", "NaN",
        "1\"a\"", "true\"a\"", "1_0", "1.2.3"}) {
    CAPTURE(number);
    CHECK_FALSE(Parsed("[" + number + "]").result.has_value());
  }
  for (const std::string text :
       {"[1\x0C,2]", "[1 2]", "{\"a\":1 \"b\":2}", "[\x0B]", "]", "}", ":", ",", "[]]", "{}}",
        "[\\\"a\"]", "{1:2}", "{a:1}", "[1}", "{\"a\":1]", "\"a\\\"", "[\"\\\"]", "\\"}) {
    CAPTURE(text);
    CHECK_FALSE(Parsed(text).result.has_value());
  }
}

TEST_CASE("Reader: depth up to the limit, not beyond") {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  ReadOptions options;
  options.max_depth = 50;
  CHECK(
      Parsed(nested(51), options).result.has_value());  // the innermost is empty and opens nothing
  CHECK_FALSE(Parsed(nested(52), options).result.has_value());
  CHECK(Parsed(nested(1000)).result.has_value());
}

TEST_CASE("Reader: asks before it fills tables") {
  ReadOptions options;
  std::uint64_t asked = 0;
  options.charge = [&](std::uint64_t bytes) {
    asked = bytes;
    return false;
  };
  Parsed p("[1,2,3]", options);
  REQUIRE_FALSE(p.result.has_value());
  CHECK(p.result.error().code == core::ErrorCode::kOverloaded);
  CHECK(asked == 7 * 20);
}

TEST_CASE("Reader: blanks between tokens are noticed, blanks in strings are not") {
  CHECK_FALSE(Parsed(R"({"a b":[1,-2.5,"x y",true,null,{},[]],"c":{"d":"\" "}})"
                     "\n")
                  .document.has_blanks);
  for (const std::string text :
       {"{ }", "[ ]", "[1 ]", "[ 1]", "[1, 2]", "[1 ,2]", "[true ]", "[\"a\" ]", "{\"a\": 1}",
        "{\"a\" :1}", "{ \"a\":1}", "{\"a\":1 }", "{\"a\":{} }", "[[] ]", "[1,\n2]"}) {
    CAPTURE(text);
    Parsed p(text);
    CHECK(p.document.has_blanks);
    std::string compact;
    AppendWithoutBlanks(text, compact);
    CHECK_FALSE(Parsed(compact).document.has_blanks);
  }
  std::string out;
  AppendWithoutBlanks(R"({ "a b" : "\\\" x\\" , "c":[ 1 ] })", out);
  CHECK(out == R"({"a b":"\\\" x\\","c":[1]})");
}

TEST_CASE("Reader: duplicate keys are marked, in small and in large objects") {
  Parsed small(R"({"a":1,"b":2,"\u0061":3})");
  REQUIRE(small.result.has_value());
  CHECK(small.document.has_superseded);
  CHECK(small.document.Number(*small.document.Find(small.document.nodes.data(), "a")) == 3);
  std::string text = "{";
  for (int i = 0; i < 5000; ++i)
    text += "\"k" + std::to_string(i % 4999) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  Parsed large(text);
  REQUIRE(large.result.has_value());
  CHECK(large.document.Number(*large.document.Find(large.document.nodes.data(), "k0")) == 4999);
  CHECK_FALSE(Parsed(R"({"a":{"x":1},"b":{"x":1},"x":1})").document.has_superseded);
}

std::string Text(const EditableEvent& event) {
  std::string out;
  event.AppendTo(out);
  return out;
}

TEST_CASE("EditableEvent: an untouched event is forwarded byte by byte") {
  const std::string json = R"( {"z" : 1.0e2, "a":[ 1 ,"\u00e9"] } )";
  Parsed p("[" + json + "," + json + "]");
  EditableEvent event;
  event.Load(p.document, 1);
  CHECK(Text(event) == R"({"z" : 1.0e2, "a":[ 1 ,"\u00e9"] })");
  CHECK_FALSE(event.edited());
  event.Load(p.document, 1 + p.document.nodes[1].nodes());
  CHECK(Text(event) == R"({"z" : 1.0e2, "a":[ 1 ,"\u00e9"] })");
}

TEST_CASE("EditableEvent: members are added, also to objects that were added") {
  Parsed p(R"({"meta":{"dt":"old"},"e":{ },"l":[[1]]})");
  EditableEvent event;
  event.Load(p.document, 0);
  event.AddMember(event.IndexOf(event.Find("meta")), "id", R"("i")");
  event.AddMember(0, "http", R"({"client_ip":"::1"})");
  event.AddMember(event.IndexOf(event.Find("e")), "a\"b", "[1,{\"c\":2}]");
  event.ReplaceValue(event.IndexOf(event.Find("meta.dt")), R"("new")");
  event.AddMember(event.IndexOf(event.Find("http")), "n", "12");
  event.AddElement(event.IndexOf(event.Find("l")), "{}");
  CHECK(
      Text(event) ==
      R"({"meta":{"dt":"new","id":"i"},"e":{ "a\"b":[1,{"c":2}]},"l":[[1],{}],"http":{"client_ip":"::1","n":12}})");
  CHECK(event.document().String(*event.Find("meta.id")) == "i");
  CHECK(event.document().String(*event.Find("meta.dt")) == "new");
  CHECK(event.document().Number(*event.Find("http.n")) == 12);
  CHECK(Document::Count(event.root()) == 4);
  CHECK(Document::Count(event.Find("l")) == 2);
  CHECK(event.root()->nodes() == 26);
  CHECK(event.TextBytes() >= Text(event).size());
  std::string meta;
  event.AppendValueTo(*event.Find("meta"), meta);
  CHECK(meta == R"({"dt":"new","id":"i"})");
}

TEST_CASE("EditableEvent: a replaced value may change its shape") {
  Parsed p(R"({"a":{"b":{"c":1}},"d":2})");
  EditableEvent event;
  event.Load(p.document, 0);
  event.AddMember(event.IndexOf(event.Find("a.b")), "x", "9");
  event.ReplaceValue(event.IndexOf(event.Find("a.b")), "null");
  CHECK(Text(event) == R"({"a":{"b":null},"d":2})");
  event.ReplaceValue(event.IndexOf(event.Find("a.b")), R"([1,[2]])");
  CHECK(Text(event) == R"({"a":{"b":[1,[2]]},"d":2})");
  CHECK(event.document().Number(*event.Find("d")) == 2);
  event.AddMember(event.IndexOf(event.Find("a")), "z", "1");
  CHECK(Text(event) == R"({"a":{"b":[1,[2]],"z":1},"d":2})");
}

TEST_CASE("EditableEvent: of duplicate keys only the last goes on, in the place of the first") {
  Parsed p(R"({"a":{"x":1,"x":2},"b":1, "a":{"y":[1,2],"y":3} ,"c":4,"b":5})");
  EditableEvent event;
  event.Load(p.document, 0);
  CHECK(Text(event) == R"({"a":{"y":3} ,"c":4,"b":5})");
  CHECK(Document::Count(event.root()) == 3);
  const Node* first = event.root() + 1;
  CHECK(event.document().String(*first) == "a");
  CHECK(event.document().Number(*event.Find("b")) == 5);
  CHECK(event.document().Number(*event.Find("a.y")) == 3);
  event.AddMember(0, "d", "6");
  CHECK(Text(event) == R"({"a":{"y":3} ,"c":4,"b":5,"d":6})");
}

}  // namespace
}  // namespace sluice::validate
