#pragma once

#include <string_view>

// What each format demands; format.cc chooses by name and mode. `text` is decoded (UTF-8 or WTF-8).
namespace sluice::validate {

// ajv 6's fast mode (lib/compile/formats.js of 6.12.6), regular expression by regular expression.
namespace fast {
bool IsDate(std::string_view text);
bool IsTime(std::string_view text);
bool IsDateTime(std::string_view text);
bool IsUri(std::string_view text);
bool IsUriReference(std::string_view text);
bool IsEmail(std::string_view text);
bool IsHostname(std::string_view text);
bool IsIpv4(std::string_view text);
bool IsIpv6(std::string_view text);
bool IsRegex(std::string_view text);
bool IsUriTemplate(std::string_view text);
}  // namespace fast

// The same in ajv 6's fast mode and in the drafts, or, for the first three, known to ajv alone.
bool IsUrl(std::string_view text);
bool IsUuid(std::string_view text);
bool IsJsonPointerUriFragment(std::string_view text);
bool IsJsonPointer(std::string_view text);
bool IsRelativeJsonPointer(std::string_view text);

// The drafts' definitions.
namespace full {
bool IsDate(std::string_view text);      // RFC 3339 full-date
bool IsTime(std::string_view text);      // RFC 3339 full-time, leap seconds at the end of a UTC day
bool IsDateTime(std::string_view text);  // RFC 3339 date-time
bool IsUri(std::string_view text);       // RFC 3986, with a scheme
bool IsUriReference(std::string_view text);  // RFC 3986
bool IsIri(std::string_view text);           // RFC 3987, with a scheme
bool IsIriReference(std::string_view text);  // RFC 3987
bool IsUriTemplate(std::string_view text);   // RFC 6570
bool IsEmail(std::string_view text);         // RFC 5321 mailbox
bool IsIdnEmail(std::string_view text);      // RFC 6531 mailbox
bool IsHostname(std::string_view text);      // RFC 1123, A-labels as RFC 5890
bool IsIdnHostname(std::string_view text);   // RFC 5890 to 5893
bool IsIpv4(std::string_view text);          // RFC 2673, 3.2
bool IsIpv6(std::string_view text);          // RFC 4291, 2.2
bool IsRegex(std::string_view text);         // ECMA-262
}  // namespace full

}  // namespace sluice::validate
