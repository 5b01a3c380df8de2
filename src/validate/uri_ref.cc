#include "validate/uri_ref.h"

namespace sluice::validate {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsAlnum(char c) { return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z'); }

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The length of "scheme" in "scheme:…", or npos.
std::size_t SchemeLength(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') return i > 0 ? i : std::string_view::npos;
    const bool letter = Lower(c) >= 'a' && Lower(c) <= 'z';
    const bool other = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (!letter && (i == 0 || !other)) break;
  }
  return std::string_view::npos;
}

// RFC 3986 section 5.2.4.
std::string RemoveDotSegments(std::string_view in) {
  std::string out;
  const auto drop_last = [&out] {
    const std::size_t slash = out.rfind('/');
    out.resize(slash == std::string::npos ? 0 : slash);
  };
  while (!in.empty()) {
    if (in.starts_with("../")) {
      in.remove_prefix(3);
    } else if (in.starts_with("./") || in.starts_with("/./")) {
      in.remove_prefix(2);
    } else if (in == "/.") {
      in = "/";
    } else if (in.starts_with("/../")) {
      in.remove_prefix(3);
      drop_last();
    } else if (in == "/..") {
      in = "/";
      drop_last();
    } else if (in == "." || in == "..") {
      in = {};
    } else {
      const std::size_t next = in.find('/', 1);
      const std::size_t length = next == std::string_view::npos ? in.size() : next;
      out.append(in.substr(0, length));
      in.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace

UriRef UriRef::Parse(std::string_view text) {
  UriRef uri;
  if (const std::size_t n = SchemeLength(text); n != std::string_view::npos) {
    uri.has_scheme = true;
    for (char c : text.substr(0, n)) uri.scheme.push_back(Lower(c));
    text.remove_prefix(n + 1);
  }
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    uri.has_fragment = true;
    uri.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    uri.has_query = true;
    uri.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (text.starts_with("//")) {
    uri.has_authority = true;
    const std::size_t slash = text.find('/', 2);
    const std::size_t end = slash == std::string_view::npos ? text.size() : slash;
    for (char c : text.substr(2, end - 2)) uri.authority.push_back(Lower(c));
    text.remove_prefix(end);
  }
  uri.path = text;
  return uri;
}

std::string UriRef::WithoutFragment() const {
  std::string out;
  if (has_scheme) out.append(scheme).push_back(':');
  if (has_authority) out.append("//").append(authority);
  out.append(path);
  if (has_query) out.append("?").append(query);
  return out;
}

UriRef ResolveUri(std::string_view base_text, std::string_view reference) {
  UriRef ref = UriRef::Parse(reference);
  if (ref.has_scheme) {
    // A path without a leading slash ("urn:uuid:…") has no segments to remove.
    if (ref.path.starts_with('/')) ref.path = RemoveDotSegments(ref.path);
    return ref;
  }
  const UriRef base = UriRef::Parse(base_text);
  ref.scheme = base.scheme;
  ref.has_scheme = base.has_scheme;
  if (ref.has_authority) {
    ref.path = RemoveDotSegments(ref.path);
    return ref;
  }
  ref.authority = base.authority;
  ref.has_authority = base.has_authority;
  if (ref.path.empty()) {
    ref.path = base.path;
    if (!ref.has_query) {
      ref.query = base.query;
      ref.has_query = base.has_query;
    }
    return ref;
  }
  if (ref.path.starts_with('/')) {
    ref.path = RemoveDotSegments(ref.path);
    return ref;
  }
  const std::size_t slash = base.path.rfind('/');
  std::string merged;
  if (slash != std::string::npos) {
    merged = base.path.substr(0, slash + 1);
  } else if (base.has_authority) {
    merged = "/";
  }
  ref.path = RemoveDotSegments(merged + ref.path);
  return ref;
}

bool PercentDecode(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = HexValue(text[i + 1]);
    const int low = HexValue(text[i + 2]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

void AppendEncodedUriComponent(std::string& out, std::string_view text) {
  static constexpr std::string_view kUnescaped = "-_.!~*'()";
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (char c : text) {
    if (IsAlnum(c) || kUnescaped.find(c) != std::string_view::npos) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
}

}  // namespace sluice::validate
