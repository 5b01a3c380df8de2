#include <memory>
#include <string>

#include "validate/format_rules.h"
#include "validate/pattern.h"

namespace sluice::validate {
namespace {

// The URL of ajv's formats.js, for code points. It differs from the original's text, not in what it
// matches: the flag i is spelled out; a character above U+FFFF is one and not two; and the
// addresses that the original excludes by looking ahead (10.*, 127.*, 169.254.*, 192.168.*,
// 172.16.* to 172.31.*) are left out of the numbers. So it runs in linear time.
std::string UrlExpression() {
  // A lone low surrogate counts only together with a unit before it that is no high one.
  const std::string kLow = "[\\0-\\uD7FF\\uDC00-\\uFFFF][\\uDC00-\\uDFFF]";
  const std::string kVisible = "(?:[^\\s\\uDC00-\\uDFFF]|" + kLow + ")";
  const std::string kTopChar = "(?:[a-zA-Z\\xA1-\\uDBFF\\uE000-\\uFFFF]|" + kLow + ")";
  const std::string kHostChar = "(?:[0-9a-zA-Z\\xA1-\\uDBFF\\uE000-\\uFFFF]|" + kLow + ")";
  const std::string kLabel = "(?:" + kHostChar + "+-)*" + kHostChar + "+";

  const std::string kMiddle = "\\.(?:1?[0-9]{1,2}|2[0-4][0-9]|25[0-5])";
  const std::string kLast = "\\.(?:[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-4])";
  const std::string kAddress =
      "(?:"
      "(?:[2-9]|1[1-9]|[2-9][0-9]|1[013-5][0-9]|12[0-689]|16[0-8]|17[013-9]|18[0-9]|19[013-9]|"
      "2[01][0-9]|22[0-3]|1)" +
      kMiddle +
      "|"
      "169\\.(?:1?[0-9]{1,2}|2[0-4][0-9]|25[0-35])|"
      "192\\.(?:[0-9]{1,2}|1[0-57-9][0-9]|16[0-79]|2[0-4][0-9]|25[0-5])|"
      "172\\.(?:[0-9]|0[0-9]|1[0-5]|3[2-9]|[4-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5]))" +
      kMiddle + kLast;
  const std::string kName = kLabel + "(?:\\." + kLabel + ")*\\." + kTopChar + "{2,}";

  return "^(?:[hH][tT][tT][pP][sS\\u017F]?|[fF][tT][pP]):\\/\\/"
         "(?:" +
         kVisible + "+(?::" + kVisible +
         "*)?@)?"
         "(?:" +
         kAddress + "|" + kName +
         ")"
         "(?::[0-9]{2,5})?(?:\\/" +
         kVisible + "*)?$";
}

}  // namespace

bool IsUrl(std::string_view text) {
  static const std::unique_ptr<const Pattern> kUrl = *Pattern::Compile(UrlExpression());
  return kUrl->Search(text) == MatchResult::kMatch;
}

}  // namespace sluice::validate
