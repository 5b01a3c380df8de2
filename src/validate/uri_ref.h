#pragma once

#include <string>
#include <string_view>

namespace sluice::validate {

// A URI reference taken apart (RFC 3986); absent parts are told from empty ones. Bases without a
// scheme
// ("/fragment/common/1.0.0") resolve as the original's library does: path against path.
struct UriRef {
  std::string scheme;
  std::string authority;
  std::string path;
  std::string query;
  std::string fragment;  // as written, still percent-encoded
  bool has_scheme = false;
  bool has_authority = false;
  bool has_query = false;
  bool has_fragment = false;

  // Takes any text apart; scheme and host come out in lower case.
  static UriRef Parse(std::string_view text);

  // The whole reference without its fragment.
  std::string WithoutFragment() const;
};

// Resolves `reference` against `base` (RFC 3986 section 5.2). The fragment of the base is ignored.
UriRef ResolveUri(std::string_view base, std::string_view reference);

// Percent-decodes. False if a percent sign is not followed by two hex digits.
bool PercentDecode(std::string_view text, std::string& out);

// What JavaScript's encodeURIComponent makes of UTF-8 text.
void AppendEncodedUriComponent(std::string& out, std::string_view text);

}  // namespace sluice::validate
