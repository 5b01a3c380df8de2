#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "validate/format.h"
#include "validate/pattern.h"
#include "validate/pattern_backtrack.h"
#include "validate/pattern_parse.h"
#include "validate/pattern_re2.h"
#include "validate/pattern_simple.h"
#include "validate/wtf8.h"

// Any expression over any text: the first line is the expression, the rest the text. Nothing
// crashes or hangs, and engines that can all run the expression agree, unless the bounded one gives
// up.
namespace {

using namespace sluice::validate;

// Well-formed as texts are once they are decoded: other bytes stand for the characters of their
// numbers.
std::string WellFormed(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = at;
    const char32_t c = NextCodePoint(bytes, end);
    std::string encoded;
    if (c <= kMaxCodePoint) AppendCodePoint(encoded, c);
    if (encoded == bytes.substr(at, end - at)) {
      text += encoded;
      at = end;
    } else {
      AppendCodePoint(text, static_cast<unsigned char>(bytes[at++]));
    }
  }
  return text;
}

// Halves of a pair side by side are one character in decoded texts.
bool HasSplitPair(std::string_view text) {
  bool high = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = NextCodePoint(text, at);
    if (high && c >= 0xDC00 && c <= 0xDFFF) return true;
    high = c >= 0xD800 && c <= 0xDBFF;
  }
  return false;
}

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string source = WellFormed(input.substr(0, line));
  const std::string text = WellFormed(input.substr(std::min(line + 1, input.size())));
  if (HasSplitPair(source) || HasSplitPair(text)) return 0;

  const auto pattern = Pattern::Compile(source);
  MatchesFormat(Format::kRegex, FormatMode::kFast, source);
  // What the drafts allow, the web allows: Annex B only adds, but for the bounds of compiled
  // expressions.
  if (MatchesFormat(Format::kRegex, FormatMode::kFull, source)) {
    Require(pattern.has_value() || source.size() > 1000);
  }
  if (!pattern) return 0;
  const MatchResult result = (*pattern)->Search(text);
  const auto tree = ParsePattern(source);
  Require(tree.has_value());
  const MatchResult tried = MakeBacktrackPattern(source, *tree)->Search(text);
  if (tried == MatchResult::kExhausted) return 0;
  Require(result == tried);
  if (const auto re2 = MakeRe2Pattern(source, *tree)) Require(re2->Search(text) == tried);
  if (const auto simple = MakeSimplePattern(source, *tree)) Require(simple->Search(text) == tried);
  return 0;
}
