#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

// Pure text: which schema URIs are let in, and where they lead under a base URI.
namespace sluice::registry {

enum class AbsoluteUris : std::uint8_t { kRefused, kAllowed };

// The one form of a schema URI that looks it up: without an empty trailing fragment, "." segments
// and repeated slashes. Fails with kSchemaUriNotAllowed and the reason: no leading slash, a ".."
// segment, a backslash, a percent sign (so no encoded traversal), a query, a fragment with content,
// a control character, another host (//host), a scheme (the original's text) unless absolute ones
// are allowed, and then any but http and https.
core::Result<std::string> NormalizeSchemaUri(std::string_view uri, AbsoluteUris absolute);

// "Failed loading schema at <uri>: <why>", as every error of loading begins. Control characters of
// `uri`, which comes from a client, are shown as "?", and what is beyond 1,000 bytes is left out.
std::string LoadFailure(std::string_view uri, std::string_view why);

bool IsAbsolute(std::string_view uri);
bool IsHttp(std::string_view uri);

// A base URI as configured: a folder, file:// or http(s)://. `prefix` has no trailing slash.
struct BaseUri {
  std::string prefix;  // a folder's path, or the http(s) URL
  bool remote = false;
};
core::Result<BaseUri> ParseBaseUri(std::string_view uri);

// Appends `extension` unless the last segment of `path` has an extension that is not a number
// ("1.0.0" has none). An empty extension changes nothing; its leading dot may be missing.
std::string WithExtension(std::string path, std::string_view extension);

// The file that `text` names if it is the content of a symbolic link as checkouts without symbolic
// links write it: one line that is the name of a file in the same folder. Else empty.
std::string_view LinkTarget(std::string_view text);

// `location` (a path or URL) with its last segment replaced.
std::string SiblingOf(std::string_view location, std::string_view name);

}  // namespace sluice::registry
