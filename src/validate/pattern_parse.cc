#include "validate/pattern_parse.h"

#include "validate/pattern_parser.h"
#include "validate/wtf8.h"

namespace sluice::validate {
namespace {

constexpr std::size_t kMaxPatternBytes = 64 << 10;

core::Error ErrorOf(const PatternParser& parser) {
  return {core::ErrorCode::kSchemaUnusable,
          parser.error() + " at position " + std::to_string(parser.error_at())};
}

}  // namespace

core::Result<PatternTree> ParsePattern(std::string_view ecmascript) {
  if (ecmascript.size() > kMaxPatternBytes) {
    return core::Error{core::ErrorCode::kSchemaUnusable,
                       "longer than " + std::to_string(kMaxPatternBytes) + " bytes"};
  }
  const std::u32string text = ToCodePoints(ecmascript);
  PatternParser parser(text, PatternParser::Mode::kTree);
  if (!parser.Parse()) return ErrorOf(parser);
  return parser.TakeTree();
}

core::Result<void> CheckWebPattern(std::string_view text) {
  const std::u32string units = ToCodeUnits(text);
  PatternParser parser(units, PatternParser::Mode::kCheckWeb);
  if (!parser.Parse()) return ErrorOf(parser);
  return {};
}

core::Result<void> CheckStrictPattern(std::string_view text) {
  const std::u32string points = ToCodePoints(text);
  PatternParser parser(points, PatternParser::Mode::kCheckStrict);
  if (!parser.Parse()) return ErrorOf(parser);
  return {};
}

}  // namespace sluice::validate
