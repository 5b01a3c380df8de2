#include "validate/code_point_set.h"

#include <doctest/doctest.h>

#include "validate/unicode_property.h"
#include "validate/wtf8.h"

namespace sluice::validate {
namespace {

using Ranges = std::vector<CodePointSet::Range>;

TEST_CASE("CodePointSet: ranges that overlap or touch become one, in any order") {
  const CodePointSet set{{'x', 'z'}, {'a', 'c'}, {'d', 'd'}, {'b', 'b'}};
  CHECK(set.ranges() == Ranges{{'a', 'd'}, {'x', 'z'}});
  CodePointSet grown = set;
  grown.Add('e', 'w');
  CHECK(grown.ranges() == Ranges{{'a', 'z'}});
  grown.Add('0', '0');
  CHECK(grown.ranges() == Ranges{{'0', '0'}, {'a', 'z'}});
}

TEST_CASE("CodePointSet: the complement has what the set has not") {
  CHECK(CodePointSet{}.Complement().ranges() == Ranges{{0, kMaxCodePoint}});
  CHECK(CodePointSet{{0, kMaxCodePoint}}.Complement().empty());
  const CodePointSet set{{0, 4}, {10, 20}};
  CHECK(set.Complement().ranges() == Ranges{{5, 9}, {21, kMaxCodePoint}});
  CHECK(set.Complement().Complement() == set);
}

TEST_CASE("CodePointSet: questions about ranges") {
  const CodePointSet set{{10, 20}, {30, 40}};
  CHECK(set.Contains(10));
  CHECK(set.Contains(40));
  CHECK_FALSE(set.Contains(9));
  CHECK_FALSE(set.Contains(21));
  CHECK(set.ContainsAll(12, 20));
  CHECK_FALSE(set.ContainsAll(20, 30));
  CHECK(set.ContainsNone(21, 29));
  CHECK_FALSE(set.ContainsNone(21, 30));
  CHECK(set.Within(10, 40));
  CHECK_FALSE(set.Within(11, 40));
  CHECK(set.Intersects(CodePointSet{{0, 10}}));
  CHECK_FALSE(set.Intersects(CodePointSet{{21, 29}}));
}

TEST_CASE("EcmaScriptProperty: categories, binary properties and scripts by ECMAScript's names") {
  for (const char* name :
       {"Lu", "Uppercase_Letter", "gc=Lu", "General_Category=Uppercase_Letter"}) {
    CAPTURE(name);
    const auto set = EcmaScriptProperty(name);
    REQUIRE(set);
    CHECK(set->Contains('A'));
    CHECK(set->Contains(0xC4));
    CHECK_FALSE(set->Contains('a'));
  }
  CHECK(EcmaScriptProperty("digit")->Contains(0x9EA));
  CHECK(EcmaScriptProperty("Script=Greek")->Contains(0x3B1));
  CHECK_FALSE(EcmaScriptProperty("sc=Grek")->Contains('a'));
  CHECK(EcmaScriptProperty("Emoji")->Contains(0x1F432));
  CHECK(EcmaScriptProperty("C")->ContainsAll(0xD800, 0xDFFF));
  CHECK(EcmaScriptProperty("Any")->ContainsAll(0, kMaxCodePoint));
}

TEST_CASE("EcmaScriptProperty: other names are none") {
  for (const char* name :
       {"", "Foo", "lu", "Greek", "gc=Greek", "Script=", "Script=grek Q", "Xan", "sc=../x"}) {
    CAPTURE(name);
    CHECK_FALSE(EcmaScriptProperty(name));
  }
}

TEST_CASE("Wtf8: every code point, surrogates included, comes back from both ends") {
  for (const char32_t c :
       {0x0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD800u, 0xDFFFu, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string text = "a";
    AppendCodePoint(text, c);
    std::size_t at = 1;
    CHECK(NextCodePoint(text, at) == c);
    CHECK(at == text.size());
    CHECK(PreviousCodePoint(text, at) == c);
    CHECK(at == 1);
  }
}

}  // namespace
}  // namespace sluice::validate
