#include "registry/schema_uri.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice::registry {
namespace {

constexpr std::size_t kMaxUriBytes = 1000;  // also bounds what the negative cache keeps
constexpr std::size_t kMaxLinkBytes = 255;

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

core::Error NotAllowed(std::string_view uri, std::string_view why) {
  return {core::ErrorCode::kSchemaUriNotAllowed, LoadFailure(uri, why)};
}

// What forbids `path` as a path below a base, or null. Percent signs are refused whole: no schema
// repository needs them, and each encoding of one path would be another entry of the cache.
const char* PathFault(std::string_view path) {
  if (!path.starts_with('/')) return "a schema URI has to begin with '/'";
  if (path.starts_with("//")) return "a schema URI must not name another host";
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return "control characters are not allowed";
    if (c == '\\') return "backslashes are not allowed";
    if (c == '%') return "percent-encoding is not allowed";
    if (c == '?') return "a query is not allowed";
    if (c == '#') return "a fragment is not allowed";
  }
  return nullptr;
}

// Collapses slashes and "." segments; nothing if there is a "..".
std::optional<std::string> CleanPath(std::string_view path) {
  std::string clean;
  clean.reserve(path.size());
  while (!path.empty()) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    if (segment == "..") return std::nullopt;
    if (segment.empty() || segment == ".") continue;
    clean += '/';
    clean += segment;
  }
  return clean.empty() ? "/" : clean;
}

core::Result<std::string> NormalizePath(std::string_view uri, std::string_view path) {
  if (const char* fault = PathFault(path)) return NotAllowed(uri, fault);
  auto clean = CleanPath(path);
  if (!clean) return NotAllowed(uri, "'..' is not allowed");
  return *std::move(clean);
}

std::string_view AuthorityOf(std::string_view url) {
  const std::size_t begin = url.find("://") + 3;
  return url.substr(begin, url.find('/', begin) - begin);
}

}  // namespace

bool IsAbsolute(std::string_view uri) {
  if (uri.empty() || !IsAlpha(uri[0])) return false;
  const std::size_t colon =
      uri.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
  return colon != std::string_view::npos && uri[colon] == ':';
}

bool IsHttp(std::string_view uri) {
  return uri.starts_with("http://") || uri.starts_with("https://");
}

std::string LoadFailure(std::string_view uri, std::string_view why) {
  std::string text = "Failed loading schema at ";
  text += uri.substr(0, kMaxUriBytes);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  if (uri.size() > kMaxUriBytes) text += "…";
  if (!why.empty()) text += ": ";
  text += why;
  return text;
}

core::Result<std::string> NormalizeSchemaUri(std::string_view uri, AbsoluteUris absolute) {
  if (uri.size() > kMaxUriBytes) {
    return NotAllowed(uri, "longer than " + std::to_string(kMaxUriBytes) + " bytes");
  }
  std::string_view text = uri;
  if (text.ends_with('#')) text.remove_suffix(1);
  if (!IsAbsolute(text)) return NormalizePath(uri, text);
  if (absolute == AbsoluteUris::kRefused) {
    return core::Error{
        core::ErrorCode::kSchemaUriNotAllowed,
        "Absolute schema URIs are not allowed but event schema_uri is " + std::string(uri)};
  }
  if (!IsHttp(text)) return NotAllowed(uri, "of absolute URIs only http and https are allowed");
  const std::string_view authority = AuthorityOf(text);
  if (authority.empty() || authority.find_first_of("@\\ \t#?%") != std::string_view::npos) {
    return NotAllowed(uri, "its host is not allowed");
  }
  const std::size_t path_at = static_cast<std::size_t>(authority.end() - text.begin());
  auto path = NormalizePath(uri, path_at < text.size() ? text.substr(path_at) : "/");
  if (!path) return path.error();
  return std::string(text.substr(0, path_at)) + *path;
}

core::Result<BaseUri> ParseBaseUri(std::string_view uri) {
  BaseUri base;
  std::string_view prefix = uri;
  constexpr std::string_view kFileScheme = "file://";
  if (prefix.starts_with(kFileScheme)) {
    prefix.remove_prefix(kFileScheme.size());
  } else if (IsHttp(prefix)) {
    base.remote = true;
  } else if (prefix.find("://") != std::string_view::npos) {
    return core::Error{
        core::ErrorCode::kSchemaUnavailable,
        "schema_base_uris: " + std::string(uri) + ": has to be a folder, file:// or http(s)://"};
  }
  const bool is_root = prefix.find_first_not_of('/') == std::string_view::npos;
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (prefix.empty() && !(is_root && uri.ends_with('/'))) {
    return core::Error{core::ErrorCode::kSchemaUnavailable,
                       "schema_base_uris: an entry is empty; name a folder, or '.'"};
  }
  base.prefix = prefix;
  return base;
}

std::string WithExtension(std::string path, std::string_view extension) {
  if (extension.empty()) return path;
  const std::size_t segment = path.rfind('/') + 1;
  const std::size_t dot = path.rfind('.');
  if (dot != std::string::npos && dot > segment) {
    const std::string_view own = std::string_view(path).substr(dot + 1);
    if (!own.empty() && !std::all_of(own.begin(), own.end(), IsDigit)) return path;
  }
  if (extension[0] != '.') path += '.';
  path += extension;
  return path;
}

std::string_view LinkTarget(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty() || text.size() > kMaxLinkBytes || text == "." || text == "..") return {};
  const bool is_name = std::all_of(text.begin(), text.end(), [](char c) {
    return IsAlpha(c) || IsDigit(c) || c == '.' || c == '_' || c == '-';
  });
  return is_name ? text : std::string_view();
}

std::string SiblingOf(std::string_view location, std::string_view name) {
  std::string sibling(location.substr(0, location.rfind('/') + 1));
  sibling += name;
  return sibling;
}

}  // namespace sluice::registry
