#include "validate/format.h"

#include <array>

#include "validate/format_rules.h"
#include "validate/pattern_parse.h"

namespace sluice::validate {
namespace {

using Check = bool (*)(std::string_view);

bool AcceptAll(std::string_view) { return true; }

struct Rule {
  std::string_view name;
  Check fast;
  Check full;
};

// In the order of the enum. Fast mode accepts what ajv 6 does not know.
constexpr std::array kRules = {
    Rule{"date", fast::IsDate, full::IsDate},
    Rule{"time", fast::IsTime, full::IsTime},
    Rule{"date-time", fast::IsDateTime, full::IsDateTime},
    Rule{"uri", fast::IsUri, full::IsUri},
    Rule{"uri-reference", fast::IsUriReference, full::IsUriReference},
    Rule{"uri-template", fast::IsUriTemplate, full::IsUriTemplate},
    Rule{"url", IsUrl, IsUrl},
    Rule{"email", fast::IsEmail, full::IsEmail},
    Rule{"hostname", fast::IsHostname, full::IsHostname},
    Rule{"ipv4", fast::IsIpv4, full::IsIpv4},
    Rule{"ipv6", fast::IsIpv6, full::IsIpv6},
    Rule{"regex", fast::IsRegex, full::IsRegex},
    Rule{"uuid", IsUuid, IsUuid},
    Rule{"json-pointer", IsJsonPointer, IsJsonPointer},
    Rule{"json-pointer-uri-fragment", IsJsonPointerUriFragment, IsJsonPointerUriFragment},
    Rule{"relative-json-pointer", IsRelativeJsonPointer, IsRelativeJsonPointer},
    Rule{"idn-email", AcceptAll, full::IsIdnEmail},
    Rule{"idn-hostname", AcceptAll, full::IsIdnHostname},
    Rule{"iri", AcceptAll, full::IsIri},
    Rule{"iri-reference", AcceptAll, full::IsIriReference},
};
static_assert(kRules.size() == static_cast<std::size_t>(Format::kIriReference) + 1);

const Rule& RuleOf(Format format) { return kRules[static_cast<std::size_t>(format)]; }

}  // namespace

std::optional<Format> FormatFromName(std::string_view name) {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].name == name) return static_cast<Format>(i);
  }
  return std::nullopt;
}

std::string_view ToString(Format format) { return RuleOf(format).name; }

bool MatchesFormat(Format format, FormatMode mode, std::string_view text) {
  const Rule& rule = RuleOf(format);
  return mode == FormatMode::kFast ? rule.fast(text) : rule.full(text);
}

}  // namespace sluice::validate
