#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::validate {

// The formats that ajv 6 knows, and the four of draft-07 that it does not (accepted in fast mode,
// asserted in full).
enum class Format : std::uint8_t {
  kDate,
  kTime,
  kDateTime,
  kUri,
  kUriReference,
  kUriTemplate,
  kUrl,
  kEmail,
  kHostname,
  kIpv4,
  kIpv6,
  kRegex,
  kUuid,
  kJsonPointer,
  kJsonPointerUriFragment,
  kRelativeJsonPointer,
  kIdnEmail,
  kIdnHostname,
  kIri,
  kIriReference,
};
enum class FormatMode : std::uint8_t { kFast, kFull };

// The format of that name, or nothing: then a schema that names it is unusable, as in the original.
std::optional<Format> FormatFromName(std::string_view name);
std::string_view ToString(Format format);

// Whether `text` (decoded, UTF-8 or WTF-8) is of the format. Fast mode is ajv 6's fast mode,
// regular expression by regular expression; full mode is the drafts' definition. No allocation for
// the hot ones (date-time, date, time, uri, uri-reference, uuid, ipv4, ipv6, hostname, email).
bool MatchesFormat(Format format, FormatMode mode, std::string_view text);

}  // namespace sluice::validate
