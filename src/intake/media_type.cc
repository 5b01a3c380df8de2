#include "intake/media_type.h"

#include <string>

#include "intake/text.h"

namespace sluice::intake {
namespace {

constexpr std::string_view kAcceptedTypes =
    "application/json, text/plain, application/reports+json, application/x-ndjson";

core::Error Unsupported(std::string message) {
  return {core::ErrorCode::kUnsupportedMediaType, std::move(message)};
}

// A client's text inside a message: bounded.
std::string Quoted(std::string_view text) { return "'" + std::string(text.substr(0, 100)) + "'"; }

// Takes one parameter off `rest` (after a ';'): quoted values may hold separators. `value` is
// unquoted but keeps backslashes, which no charset name has.
void TakeParameter(std::string_view& rest, std::string_view& name, std::string_view& value) {
  std::size_t end = 0;
  bool quoted = false;
  for (; end < rest.size() && (quoted || rest[end] != ';'); ++end) {
    if (rest[end] == '"') quoted = !quoted;
    if (quoted && rest[end] == '\\') ++end;
  }
  std::string_view parameter = rest.substr(0, std::min(end, rest.size()));
  rest = end < rest.size() ? rest.substr(end + 1) : std::string_view();
  name = Trim(TakeUntil(parameter, '='));
  value = Trim(parameter);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
}

// The weight of a list member in thousandths, from its parameters; 1000 without one.
int Weight(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view name;
    std::string_view value;
    TakeParameter(parameters, name, value);
    if (!EqualsIgnoringCase(name, "q")) continue;
    int weight = 0;
    int scale = 1000;
    for (const char c : value) {
      if (c == '.') continue;
      if (c < '0' || c > '9' || scale == 0) break;
      weight += (c - '0') * scale;
      scale /= 10;
    }
    return std::min(weight, 1000);
  }
  return 1000;
}

}  // namespace

core::Result<BodyKind> ReadContentType(std::string_view content_type) {
  std::string_view rest = content_type;
  const std::string_view type = Trim(TakeUntil(rest, ';'));
  BodyKind kind = BodyKind::kJson;
  if (EqualsIgnoringCase(type, "application/x-ndjson")) {
    kind = BodyKind::kNdjson;
  } else if (!EqualsIgnoringCase(type, "application/json") &&
             !EqualsIgnoringCase(type, "text/plain") &&
             !EqualsIgnoringCase(type, "application/reports+json")) {
    return Unsupported((type.empty() ? "The request has no Content-Type"
                                     : "Media type " + Quoted(type) + " is not accepted") +
                       "; accepted are " + std::string(kAcceptedTypes) + ".");
  }
  while (!rest.empty()) {
    std::string_view name;
    std::string_view value;
    TakeParameter(rest, name, value);
    if (EqualsIgnoringCase(name, "charset") && !EqualsIgnoringCase(value, "utf-8") &&
        !EqualsIgnoringCase(value, "utf8")) {
      return Unsupported("Charset " + Quoted(value) + " is not accepted; only utf-8 is.");
    }
  }
  return kind;
}

core::Result<ContentCoding> ReadContentEncoding(std::string_view content_encoding) {
  const std::string_view coding = Trim(content_encoding);
  if (coding.empty() || EqualsIgnoringCase(coding, "identity")) return ContentCoding::kIdentity;
  if (EqualsIgnoringCase(coding, "gzip") || EqualsIgnoringCase(coding, "x-gzip")) {
    return ContentCoding::kGzip;
  }
  if (EqualsIgnoringCase(coding, "deflate")) return ContentCoding::kDeflate;
  if (EqualsIgnoringCase(coding, "br")) return ContentCoding::kBrotli;
  if (EqualsIgnoringCase(coding, "zstd")) return ContentCoding::kZstd;
  return Unsupported("Content encoding " + Quoted(coding) +
                     " is not accepted; accepted are identity, gzip, deflate, br and zstd.");
}

ContentCoding ChooseAnswerCoding(std::string_view accept_encoding) {
  int gzip = -1;
  int deflate = -1;
  int any = 0;
  while (!accept_encoding.empty()) {
    std::string_view member = TakeUntil(accept_encoding, ',');
    const std::string_view name = Trim(TakeUntil(member, ';'));
    const int weight = Weight(member);
    if (EqualsIgnoringCase(name, "gzip") || EqualsIgnoringCase(name, "x-gzip")) gzip = weight;
    if (EqualsIgnoringCase(name, "deflate")) deflate = weight;
    if (name == "*") any = weight;
  }
  if (gzip < 0) gzip = any;
  if (deflate < 0) deflate = any;
  if (gzip > 0 && gzip >= deflate) return ContentCoding::kGzip;
  return deflate > 0 ? ContentCoding::kDeflate : ContentCoding::kIdentity;
}

}  // namespace sluice::intake
