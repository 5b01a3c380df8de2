#include "validate/pattern.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "validate/pattern_backtrack.h"
#include "validate/pattern_parse.h"
#include "validate/pattern_re2.h"
#include "validate/pattern_simple.h"

namespace sluice::validate {
namespace {

// What every engine that can run the expression answers; they must agree.
MatchResult Search(std::string_view source, std::string_view text) {
  const auto pattern = Pattern::Compile(source);
  REQUIRE(pattern.has_value());
  const MatchResult result = (*pattern)->Search(text);
  const auto tree = ParsePattern(source);
  REQUIRE(tree.has_value());
  if (const auto simple = MakeSimplePattern(source, *tree)) CHECK(simple->Search(text) == result);
  if (const auto re2 = MakeRe2Pattern(source, *tree)) CHECK(re2->Search(text) == result);
  CHECK(MakeBacktrackPattern(source, *tree)->Search(text) == result);
  return result;
}

bool Matches(std::string_view source, std::string_view text) {
  CAPTURE(source);
  CAPTURE(text);
  const MatchResult result = Search(source, text);
  CHECK(result != MatchResult::kExhausted);
  return result == MatchResult::kMatch;
}

bool IsSimple(std::string_view source) {
  const auto tree = ParsePattern(source);
  REQUIRE(tree.has_value());
  return MakeSimplePattern(source, *tree) != nullptr;
}

bool IsRe2(std::string_view source) {
  const auto tree = ParsePattern(source);
  REQUIRE(tree.has_value());
  return MakeRe2Pattern(source, *tree) != nullptr;
}

TEST_CASE("Pattern: the expressions of published schemas run in the matcher of our own") {
  constexpr std::string_view kUuid =
      "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$";
  constexpr std::string_view kUuidInGroups = "^[a-fA-F0-9]{8}(-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}$";
  for (const std::string_view source :
       {std::string_view("^[0-9a-z]{20}$"), kUuid, std::string_view("^[$a-z]+[a-z0-9_]*$"),
        kUuidInGroups, std::string_view("^\\d{1,2}\\/\\d{1,7}\\/\\d{1,7}$"),
        std::string_view("^[^/]+$"), std::string_view("^[\\d\\w-]+$")}) {
    CAPTURE(source);
    CHECK(IsSimple(source));
  }
  for (const std::string_view source : {kUuid, kUuidInGroups}) {
    CHECK(Matches(source, "123e4567-e89b-12d3-A456-426614174000"));
    CHECK_FALSE(Matches(source, "123e4567-e89b-12d3-A456-42661417400"));
    CHECK_FALSE(Matches(source, "123e4567-e89b-12d3-A456-4266141740000"));
    CHECK_FALSE(Matches(source, "123e4567-e89b-12d3-A456-426614174000\n"));
    CHECK_FALSE(Matches(source, "123e4567-e89b-12d3-A456+426614174000"));
  }
  CHECK(Matches("^[0-9a-z]{20}$", "abcdefghij0123456789"));
  CHECK_FALSE(Matches("^[0-9a-z]{20}$", "abcdefghij012345678"));
  CHECK(Matches("^[$a-z]+[a-z0-9_]*$", "$ab_9"));
  CHECK_FALSE(Matches("^[$a-z]+[a-z0-9_]*$", "ab_$"));
  CHECK_FALSE(Matches("^[$a-z]+[a-z0-9_]*$", ""));
  CHECK(Matches("^\\d{1,2}\\/\\d{1,7}\\/\\d{1,7}$", "12/1234567/1"));
  CHECK_FALSE(Matches("^\\d{1,2}\\/\\d{1,7}\\/\\d{1,7}$", "123/1/1"));
  CHECK(Matches("^[^/]+$", "aé\n"));
  CHECK_FALSE(Matches("^[^/]+$", "a/"));
  CHECK(Matches("^[\\d\\w-]+$", "a-9"));
  CHECK_FALSE(Matches("^[\\d\\w-]+$", "é"));
}

TEST_CASE("Pattern: counts of classes with characters above U+007F count characters") {
  CHECK(IsSimple("^[^/]{2,3}$"));
  CHECK_FALSE(Matches("^[^/]{2,3}$", "é"));
  CHECK(Matches("^[^/]{2,3}$", "éé"));
  CHECK(Matches("^[^/]{2,3}$", "é🐲a"));
  CHECK_FALSE(Matches("^[^/]{2,3}$", "é🐲ab"));
}

TEST_CASE("Pattern: what would have to give back runs elsewhere") {
  CHECK_FALSE(IsSimple("^[a-z]*z$"));
  CHECK(Matches("^[a-z]*z$", "abcz"));
  CHECK_FALSE(IsSimple("^a?a$"));
  CHECK(Matches("^a?a$", "a"));
  CHECK_FALSE(IsSimple("^[ab]{1,2}[bc]*$"));
  CHECK(Matches("^[ab]{1,2}[bc]*$", "bbb"));
  CHECK(IsSimple("^[ab]+[bc]*"));
  CHECK(Matches("^[ab]+[bc]*", "axxx"));
  CHECK_FALSE(IsSimple("a$"));
  CHECK(IsSimple("foo"));
  CHECK(Matches("foo", "xfoox"));
  CHECK(IsSimple(""));
  CHECK(Matches("", "x"));
}

TEST_CASE("Pattern: $ is the end of the text only") {
  CHECK(Matches("^abc$", "abc"));
  CHECK_FALSE(Matches("^abc$", "abc\n"));
  CHECK_FALSE(Matches("(b|c)$", "abc\n"));
  CHECK_FALSE(Matches("^b", "a\nb"));
}

TEST_CASE("Pattern: classes are those of ECMAScript") {
  CHECK_FALSE(Matches("^\\d$", "\u07c0"));
  CHECK_FALSE(Matches("^\\w$", "é"));
  CHECK(Matches("^\\W$", "é"));
  for (const char* space : {" ", "\t", "\v", "\f", "\n", "\r", "\u00a0", "\ufeff", "\u1680",
                            "\u2003", "\u2028", "\u3000"}) {
    CHECK(Matches("^\\s$", space));
    CHECK_FALSE(Matches("^\\S$", space));
  }
  CHECK_FALSE(Matches("^\\s$", "\u200b"));
  for (const char* terminator : {"\n", "\r", "\u2028", "\u2029"})
    CHECK_FALSE(Matches("^.$", terminator));
  CHECK(Matches("^.$", "\u0085"));
  CHECK_FALSE(Matches("[]", "a"));
  CHECK(Matches("^[^]$", "\n"));
  CHECK_FALSE(Matches("a\\b", "ab"));
  CHECK(Matches("a\\b", "aé"));
  CHECK(Matches("é\\B.", "éü"));
  CHECK_FALSE(Matches("\\B", "béa"));
}

TEST_CASE("Pattern: a character above U+FFFF is one") {
  CHECK(Matches("^.$", "😀"));
  CHECK(Matches("^🐲*$", "🐲🐲"));
  CHECK_FALSE(Matches("^🐲*$", "🐉"));
  CHECK(Matches("^[🐲-🐵]$", "🐳"));
  CHECK(Matches("^[^a]$", "😀"));
  CHECK(Matches("\\p{Letter}cole", "école"));
}

TEST_CASE("Pattern: lone surrogates are characters") {
  CHECK(Matches("^.$", "\xED\xA0\x80"));
  CHECK(Matches("^[\\uD800-\\uDFFF]$", "\xED\xB0\x80"));
  CHECK(Matches("^\\uD800$", "\xED\xA0\x80"));
  CHECK_FALSE(Matches("^\\uD800$", "\xED\xA0\x81"));
  CHECK(Matches("^[^a]b$",
                "\xED\xA0\x80"
                "b"));
}

TEST_CASE("Pattern: look-around and back-references as ECMA-262 has them") {
  CHECK(Matches("^(?=.*[A-Z])(?=.*\\d).{4,}$", "abC1"));
  CHECK_FALSE(Matches("^(?=.*[A-Z])(?=.*\\d).{4,}$", "abc1"));
  CHECK_FALSE(Matches("^(?!admin)", "administrator"));
  CHECK(Matches("(?<=\\$\\d+)\\.", "a$12.5"));
  CHECK(Matches("(?<!\\d)5", "a5"));
  CHECK_FALSE(Matches("(?<!\\d)5", "15"));
  CHECK(Matches("^(['\"]).*\\1$", "'a'"));
  CHECK_FALSE(Matches("^(['\"]).*\\1$", "'a\""));
  CHECK(Matches("^(?<q>['\"])\\k<q>$", "\"\""));
  CHECK(Matches("^\\1(a)$", "a"));          // not captured yet: nothing
  CHECK(Matches("^(?:(a)|b)*\\1$", "ab"));  // each round forgets its captures
  CHECK_FALSE(Matches("^(?:(a)|c)\\1$", "a"));
  CHECK(Matches("(?<=(\\d+)(\\d+))$", "1053"));  // right to left
  CHECK(Matches("^(?:(?=(a))b|a\\1)$", "a"));    // undone with the way that failed
  CHECK(Matches("^(?!(a))\\1b$", "b"));
  CHECK(Matches("^(a?)*?$", "aa"));
  CHECK(Matches("^(?=a*?b)a{2,5}?b$", "aaab"));
}

TEST_CASE("Pattern: counts above RE2's run elsewhere") {
  CHECK_FALSE(IsRe2("(ab|c){2000}$"));
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "ab";
  CHECK(Matches("^(ab|c){2000}$", text));
  CHECK_FALSE(Matches("^(ab|c){2000}$", text + "c"));
  CHECK(Matches("^a{1500}$", std::string(1500, 'a')));
}

TEST_CASE("Pattern: nothing hangs: linear where possible, an exhausted bound elsewhere") {
  const std::string evil = std::string(50000, 'a') + "!";
  const auto begin = std::chrono::steady_clock::now();
  CHECK((*Pattern::Compile("^(a+)+$"))->Search(evil) == MatchResult::kNoMatch);
  CHECK((*Pattern::Compile("^(?=(a+)+$)"))->Search(evil) == MatchResult::kExhausted);
  CHECK((*Pattern::Compile("(a*)*\\1$"))->Search(evil) == MatchResult::kExhausted);
  CHECK((*Pattern::Compile("^(?:(?=a)a)*$"))->Search(std::string(200000, 'a')) ==
        MatchResult::kExhausted);
  CHECK((*Pattern::Compile("(?:){1000000000}\\b(?=x)"))->Search(evil) == MatchResult::kExhausted);
  CHECK((*Pattern::Compile("((((((((((a{99}){99}){99}){99}){99}){99}){99}){99}){99}){99})\\1"))
            ->Search(evil) != MatchResult::kMatch);
  // Generous: sanitizers and a busy machine. Without bounds it would take years.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("Pattern: a text that is no expression cannot be used in a schema") {
  const auto pattern = Pattern::Compile("[a");
  REQUIRE_FALSE(pattern.has_value());
  CHECK(pattern.error().code == core::ErrorCode::kSchemaUnusable);
  CHECK(pattern.error().message ==
        "not a regular expression: unterminated character class at position 0");
  CHECK((*Pattern::Compile("a+"))->source() == "a+");
}

}  // namespace
}  // namespace sluice::validate
