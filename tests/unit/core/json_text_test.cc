#include "core/json_text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

using namespace std::string_literals;

namespace sluice::core {
namespace {

std::string Json(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

std::pair<std::string, std::size_t> Replaced(std::string_view text) {
  std::string out;
  const std::size_t count = AppendReplacingInvalidUtf8(out, text);
  return {out, count};
}

const std::string kFffd = "\xEF\xBF\xBD";

TEST_CASE("AppendJsonString: escapes what JSON.stringify escapes and nothing else") {
  CHECK(Json("") == "\"\"");
  CHECK(Json("plain /text'") == "\"plain /text'\"");
  CHECK(Json("\"\\\b\f\n\r\t") == R"("\"\\\b\f\n\r\t")");
  CHECK(Json("\x01\x1f\x7f"s) == "\"\\u0001\\u001f\x7f\"");
  CHECK(Json("a\0b"s) == R"("a\u0000b")");
  CHECK(Json("\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80") == "\"\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80\"");
}

TEST_CASE("AppendJsonString: lone surrogates are escaped, a pair is its character") {
  CHECK(Json("x\xED\xA0\x80y") == R"("x\ud800y")");
  CHECK(Json("\xED\xBF\xBF") == R"("\udfff")");
  CHECK(Json("\xED\xB8\x80\xED\xA0\xBD") == R"("\ude00\ud83d")");
  CHECK(Json("\xED\xA0\xBD\xED\xB8\x80") == "\"\xF0\x9F\x98\x80\"");
}

TEST_CASE("AppendJsonString: bytes that are no UTF-8 become U+FFFD") {
  CHECK(Json("a\xFF") == "\"a" + kFffd + '"');
  CHECK(Json("\xE2\x82z") == '"' + kFffd + "z\"");
  CHECK(Json("\xED\xA0") == '"' + kFffd + kFffd + '"');
}

TEST_CASE("AppendReplacingInvalidUtf8: well-formed text is copied") {
  CHECK(Replaced("a\xC3\xA9\xE2\x82\xAC\xF4\x8F\xBF\xBF") ==
        std::pair("a\xC3\xA9\xE2\x82\xAC\xF4\x8F\xBF\xBF"s, std::size_t{0}));
}

// The examples of the Unicode standard, chapter 3.9, tables 3-8 to 3-11.
TEST_CASE("AppendReplacingInvalidUtf8: one U+FFFD for each maximal subpart") {
  struct Case {
    std::string in;
    std::string out;
    std::size_t count;
  };
  const auto fffd = [](int n) {
    std::string text;
    while (n-- > 0) text += kFffd;
    return text;
  };
  const Case cases[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", fffd(8) + "A", 8},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", fffd(8) + "A", 8},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", fffd(5) + "A" + fffd(2) + "B", 7},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", fffd(4) + "A", 4},
      {"\xF0\x9F\x98", fffd(1), 1},
  };
  for (const Case& c : cases) CHECK(Replaced(c.in) == std::pair(c.out, c.count));
}

}  // namespace
}  // namespace sluice::core
