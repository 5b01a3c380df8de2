#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "validate/format.h"
#include "validate/js_number.h"
#include "validate/pattern.h"
#include "validate/pattern_backtrack.h"
#include "validate/pattern_parse.h"
#include "validate/pattern_re2.h"
#include "validate/pattern_simple.h"

// Answers questions of the differential test, one a line; texts are hexadecimal WTF-8, "-" when
// empty.
//   format NAME fast|full TEXT        1 or 0
//   check EXPRESSION                  1 or 0: whether `new RegExp` takes it
//   pattern ENGINE EXPRESSION TEXT    1, 0, invalid, exhausted, or none: that engine cannot run it
//   number BITS                       the double with these bits, printed
namespace {

using namespace sluice::validate;

std::string FromHex(const std::string& hex) {
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    text.push_back(static_cast<char>(byte));
  }
  return text;
}

std::unique_ptr<const Pattern> MakePattern(const std::string& engine, const std::string& source) {
  if (engine == "auto") {
    auto pattern = Pattern::Compile(source);
    return pattern ? std::move(*pattern) : nullptr;
  }
  const auto tree = ParsePattern(source);
  if (!tree) return nullptr;
  if (engine == "simple") return MakeSimplePattern(source, *tree);
  if (engine == "re2") return MakeRe2Pattern(source, *tree);
  return MakeBacktrackPattern(source, *tree);
}

std::string AnswerPattern(const std::string& engine, const std::string& source,
                          const std::string& text) {
  static std::string last_key;
  static std::unique_ptr<const Pattern> pattern;
  if (const std::string key = engine + " " + source; key != last_key) {
    pattern = MakePattern(engine, source);
    last_key = key;
  }
  if (!pattern) return ParsePattern(source) ? "none" : "invalid";
  switch (pattern->Search(text)) {
    case MatchResult::kMatch:
      return "1";
    case MatchResult::kNoMatch:
      return "0";
    case MatchResult::kExhausted:
      return "exhausted";
  }
  return "";
}

std::string Answer(std::istringstream& line) {
  std::string what, a, b, c;
  line >> what >> a >> b >> c;
  if (what == "format") {
    const auto format = FormatFromName(a);
    if (!format) return "unknown format";
    const FormatMode mode = b == "fast" ? FormatMode::kFast : FormatMode::kFull;
    return MatchesFormat(*format, mode, FromHex(c)) ? "1" : "0";
  }
  if (what == "check") {
    return CheckWebPattern(FromHex(a)).has_value() ? "1" : "0";
  }
  if (what == "pattern") return AnswerPattern(a, FromHex(b), FromHex(c));
  if (what == "number") {
    std::string out;
    AppendJsNumber(out, std::bit_cast<double>(std::strtoull(a.c_str(), nullptr, 16)));
    return out;
  }
  return "unknown question";
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::cout << Answer(words) << '\n';
  }
}
