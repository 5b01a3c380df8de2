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
  PatternParser parser(text, PatternUnit::kCodePoint, PatternParser::Output::kTree);
  if (!parser.Parse()) return ErrorOf(parser);
  return parser.TakeTree();
}

core::Result<void> CheckPattern(std::string_view ecmascript, PatternUnit unit) {
  const std::u32string text =
      unit == PatternUnit::kCodeUnit ? ToCodeUnits(ecmascript) : ToCodePoints(ecmascript);
  PatternParser parser(text, unit, PatternParser::Output::kVerdict);
  if (!parser.Parse()) return ErrorOf(parser);
  return {};
}

}  // namespace sluice::validate
