#include "intake/http_target.h"

#include <algorithm>

#include "intake/text.h"

namespace sluice::intake {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsHexDigit(char c) { return IsDigit(c) || (ToLower(c) >= 'a' && ToLower(c) <= 'f'); }

// unreserved, sub-delims and the percent sign of RFC 3986, without the comma: a list of hosts is
// what a proxy makes of two Host fields.
bool IsRegName(char c) {
  return IsDigit(c) || (ToLower(c) >= 'a' && ToLower(c) <= 'z') ||
         std::string_view("-._~!$&'()*+;=%").find(c) != std::string_view::npos;
}

bool IsPort(std::string_view text) {
  return text.size() <= 5 && std::all_of(text.begin(), text.end(), IsDigit);
}

bool IsAddressLiteral(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return IsHexDigit(c) || c == ':' || c == '.'; });
}

}  // namespace

bool IsHost(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || !IsAddressLiteral(text.substr(1, end - 1))) return false;
    text.remove_prefix(end + 1);
    return text.empty() || (text.front() == ':' && IsPort(text.substr(1)));
  }
  const std::size_t colon = text.find(':');
  if (colon == 0) return false;  // a port of nothing
  if (colon != std::string_view::npos && !IsPort(text.substr(colon + 1))) return false;
  const std::string_view name = text.substr(0, colon);
  return std::all_of(name.begin(), name.end(), IsRegName);
}

bool ParseTarget(std::string_view method, std::string_view text, Target& target) {
  target = {text, {}};
  if (method == "CONNECT") return text.find(':') != std::string_view::npos && IsHost(text);
  if (text == "*") return method == "OPTIONS";
  if (text.find('#') != std::string_view::npos) return false;
  std::string_view rest = text;
  if (!rest.starts_with('/')) {
    const std::size_t scheme = rest.find("://");
    if (scheme == std::string_view::npos) return false;
    const std::string_view name = rest.substr(0, scheme);
    if (!EqualsIgnoringCase(name, "http") && !EqualsIgnoringCase(name, "https")) return false;
    rest.remove_prefix(scheme + 3);
    const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
    if (path == 0 || !IsHost(rest.substr(0, path))) return false;
    rest.remove_prefix(path);
  }
  target.path = TakeUntil(rest, '?');
  if (target.path.empty()) target.path = "/";
  target.query = rest;
  return true;
}

}  // namespace sluice::intake
