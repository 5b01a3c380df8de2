#include "validate/pattern_parse.h"

#include <doctest/doctest.h>

#include <string>

#include "validate/pattern_re2.h"

namespace sluice::validate {
namespace {

std::string ErrorOf(std::string_view source) {
  const auto tree = ParsePattern(source);
  return tree ? "" : tree.error().message;
}

// How RE2 would be asked; look-around and the like: "none".
std::string Re2(std::string_view source) {
  const auto tree = ParsePattern(source);
  REQUIRE(tree.has_value());
  return ToRe2Syntax(*tree).value_or("none");
}

TEST_CASE("ParsePattern: an error says what is wrong and at which character") {
  CHECK(ErrorOf("ab*") == "");
  CHECK(ErrorOf("a**") == "nothing to repeat at position 2");
  CHECK(ErrorOf("é{2}{3}") == "nothing to repeat at position 4");
  CHECK(ErrorOf("(ab") == "unterminated group at position 0");
  CHECK(ErrorOf("ab)") == "unmatched ')' at position 2");
  CHECK(ErrorOf("x[ab") == "unterminated character class at position 1");
  CHECK(ErrorOf("[z-a]") == "range out of order in character class at position 1");
  CHECK(ErrorOf("a{3,2}") == "numbers out of order in quantifier at position 1");
  CHECK(ErrorOf("a\\") == "\\ at the end at position 1");
  CHECK(ErrorOf("(?i:a)") == "invalid group at position 0");
  CHECK(ErrorOf("(?<1>a)") == "invalid capture group name at position 0");
  CHECK(ErrorOf("(?<a>)(?<a>)") == "duplicate capture group name at position 6");
  CHECK(ErrorOf("(?<a>)\\k<b>") == "reference to an unknown group name at position 6");
  CHECK(ErrorOf("(?<a>)\\k") == "invalid named reference at position 6");
  CHECK(ErrorOf("^*") == "nothing to repeat at position 1");
  CHECK(ErrorOf("(?<=a)*") == "nothing to repeat at position 6");
}

TEST_CASE("ParsePattern: Annex B makes characters of what else were errors") {
  CHECK(Re2("{") == Re2("\\{"));
  CHECK(Re2("a{,2}") == Re2("a\\{,2\\}"));
  CHECK(Re2("]") == Re2("\\]"));
  CHECK(Re2("\\c") == Re2("\\\\c"));
  CHECK(Re2("\\cA") == Re2("\\x01"));
  CHECK(Re2("[\\c_]") == Re2("[\\x1f]"));
  CHECK(Re2("\\xz") == Re2("xz"));
  CHECK(Re2("\\u{2}") == Re2("u{2}"));
  CHECK(Re2("\\12") == Re2("\\x0A"));
  CHECK(Re2("\\8") == Re2("8"));
  CHECK(Re2("\\400") == Re2("\\x200"));
  CHECK(Re2("\\k<a>") == Re2("k<a>"));
  CHECK(Re2("[\\w-a]") == Re2("[\\w\\-a]"));
  CHECK(Re2("(?=a)*") == "none");
  CHECK(Re2("[]") == "(?:[^\\x{0}-\\x{10FFFF}])");
  CHECK(Re2("[^]") == "(?:[\\x{0}-\\x{10FFFF}])");
}

TEST_CASE("ParsePattern: an escape of both halves of a surrogate pair is the character") {
  CHECK(Re2("\\uD83D\\uDC32") == Re2("🐲"));
  CHECK(Re2("[\\uD83D\\uDC32]") == Re2("🐲"));
  CHECK(Re2("[\\uD800-\\uDBFF][\\uDC00-\\uDFFF]") == "(?:[\\x{10000}-\\x{10FFFF}])");
  CHECK(Re2("\\ud83d[\\udc00-\\udc01]") == "(?:[\\x{1F400}-\\x{1F401}])");
  CHECK(Re2("\\uD83D") == "(?:[\\x{D83D}])");
}

TEST_CASE("ParsePattern: a property of Unicode where the name is one, else the letter p") {
  CHECK(Re2("\\p{Nd}").size() > 100);
  CHECK(Re2("\\p{digit}") == Re2("\\p{Nd}"));
  CHECK(Re2("\\P{Nd}") == Re2("[^\\p{Nd}]"));
  CHECK(Re2("\\p{Foo}") == Re2("p{Foo}"));
  CHECK(Re2("\\p") == Re2("p"));
}

TEST_CASE("ParsePattern: what cannot be compiled within bounds is refused") {
  CHECK(ErrorOf(std::string(65537, 'a')) == "longer than 65536 bytes");
  CHECK(ErrorOf(std::string(300, '(') + std::string(300, ')')) ==
        "groups are nested too deeply at position 250");
  CHECK(ErrorOf(std::string(200, '(') + std::string(200, ')')) == "");
}

TEST_CASE("CheckWebPattern: has no bounds, and counts code units") {
  CHECK(CheckWebPattern(std::string(60000, '(') + std::string(60000, ')')).has_value());
  CHECK(CheckWebPattern("\\a{[\\u").has_error());
  CHECK(CheckWebPattern("\\a{\\u]").has_value());
  CHECK(CheckWebPattern("[🐲-🐵]")
            .has_error());  // the second half of the first is above the first of the second
}

TEST_CASE("CheckStrictPattern: refuses what only Annex B allows") {
  for (const char* good : {"^a$", "[🐲-🐵]", "\\-\\/\\$", "\\u0075", "(a)\\1", "\\p{L}", "\\0",
                           "(?<a>b)\\k<a>", "[\\]]"}) {
    CAPTURE(good);
    CHECK(CheckStrictPattern(good).has_value());
  }
  for (const char* bad : {"\\a", "{", "}", "]", "\\1", "\\01", "\\c", "[\\c1]", "\\xz", "\\u12",
                          "\\k", "(?=a)*", "[\\w-a]", "\\_"}) {
    CAPTURE(bad);
    CHECK(CheckStrictPattern(bad).has_error());
    CHECK(CheckWebPattern(bad).has_value());
  }
}

}  // namespace
}  // namespace sluice::validate
