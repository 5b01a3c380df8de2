#include "intake/record_key.h"

#include <doctest/doctest.h>

#include <string>

#include "support/padded.h"
#include "validate/reader.h"

namespace sluice::intake {
namespace {

std::string KeyOf(const core::StringPairs& fields, std::string_view json) {
  validate::Reader reader;
  validate::Document document;
  const test::Padded text(json);
  REQUIRE(reader.Read(text.view(), {}, document).has_value());
  std::string key;
  const auto result = RecordKey(fields).AppendTo(document, document.nodes.data(), key);
  return result.has_value() ? key : result.error().message;
}

TEST_CASE("RecordKey: the configured order, dots nest") {
  const char* event = R"({"wiki_id":"enwiki","page":{"page_id":7,"t":"a/b"},"n":1.50})";
  CHECK(KeyOf({{"wiki_id", "wiki_id"}, {"page_id", "page.page_id"}}, event) ==
        R"({"wiki_id":"enwiki","page_id":7})");
  CHECK(KeyOf({{"a.b.c", "n"}, {"a.b.d", "wiki_id"}, {"a.e", "page.t"}, {"f", "n"}}, event) ==
        R"({"a":{"b":{"c":1.5,"d":"enwiki"},"e":"a/b"},"f":1.5})");
}

TEST_CASE("RecordKey: values as JSON.stringify writes them, so that partitions stay") {
  const char* event =
      R"({"s":"\u00e9\/\ud800","big":12345678901234567890,"o":{ "x" : [1e3 , null,true,false] },"i":1e400})";
  CHECK(KeyOf({{"s", "s"}}, event) == "{\"s\":\"\xC3\xA9/\\ud800\"}");
  CHECK(KeyOf({{"b", "big"}}, event) == R"({"b":12345678901234567000})");
  CHECK(KeyOf({{"o", "o"}}, event) == R"({"o":{"x":[1000,null,true,false]}})");
  CHECK(KeyOf({{"i", "i"}}, event) == R"({"i":null})");
}

TEST_CASE("RecordKey: an absent field is an error that names it") {
  CHECK(KeyOf({{"page_id", "page.id"}}, R"({"page":1})") ==
        "Failed extracting page_id from event, field is not defined.");
}

}  // namespace
}  // namespace sluice::intake
