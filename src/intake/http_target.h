#pragma once

#include <string_view>

namespace sluice::intake {

// What a request asks for. The views are into the text that was parsed.
struct Target {
  std::string_view path;   // "*" in the asterisk form, the whole text in the authority form
  std::string_view query;  // without '?'
};

// Reads a request target into `target`. False if it has none of the four forms of RFC 9112 3.2 that
// `method` may have: a path, an http(s) URL without user (as proxies send it), `host:port` of
// CONNECT, `*` of OPTIONS. A fragment belongs to none of them.
bool ParseTarget(std::string_view method, std::string_view text, Target& target);

// Whether `text` can be the value of a Host field: RFC 9110 7.2, a name or address and a port. It
// may be empty.
bool IsHost(std::string_view text);

}  // namespace sluice::intake
