#include "intake/http_parser.h"

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

#include "intake/http_target.h"
#include "intake/text.h"

namespace sluice::intake {
namespace {

namespace http = boost::beast::http;

// Between the target and the end of the request line, and a method of fair length before it.
constexpr std::size_t kRestOfRequestLine = 64;

std::string_view ToStd(boost::beast::string_view text) { return {text.data(), text.size()}; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsLetter(char c) { return ToLower(c) >= 'a' && ToLower(c) <= 'z'; }

bool IsTokenChar(char c) {
  return IsDigit(c) || IsLetter(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string TooLongTarget(std::uint32_t max_bytes) {
  return "The target of the request is longer than " + std::to_string(max_bytes) +
         " bytes (limits.max_uri_bytes).";
}

}  // namespace

void RequestHead::Clear() {
  method_ = target_ = path_ = query_ = {};
  version_ = 11;
  fields_.clear();
  forwarded_for_.clear();
}

std::string_view RequestHead::Header(std::string_view lower_case_name) const {
  if (!forwarded_for_.empty() && lower_case_name == "x-forwarded-for") return forwarded_for_;
  const Field* field = Last(lower_case_name);
  return field != nullptr ? field->value : std::string_view();
}

const RequestHead::Field* RequestHead::Last(std::string_view lower_case_name) const {
  for (auto field = fields_.rbegin(); field != fields_.rend(); ++field) {
    if (EqualsIgnoringCase(field->name, lower_case_name)) return &*field;
  }
  return nullptr;
}

void RequestHead::JoinForwardedFor(std::string_view value) {
  constexpr std::string_view kName = "x-forwarded-for";
  const std::string_view before = Header(kName);
  if (before.empty()) return;
  if (forwarded_for_.empty()) forwarded_for_ = before;
  forwarded_for_ += ", ";
  forwarded_for_ += value;
}

RequestParser::RequestParser(RequestHead& head, ChunkSink& sink, std::string_view bytes,
                             const core::LimitOptions& limits)
    : head_(head), sink_(sink), bytes_(bytes), limits_(limits) {
  // The session bounds both, with answers of its own.
  header_limit(std::numeric_limits<std::uint32_t>::max());
  body_limit(boost::none);
  head_.Clear();
}

HeadRefusal RequestParser::Refusal(const error_code& ec) const {
  if (refusal_) return *refusal_;
  return {400, "The head of the request is not valid HTTP: " + ec.message() + "."};
}

void RequestParser::Refuse(int status, std::string detail, error_code& ec) {
  refusal_ = HeadRefusal{status, std::move(detail)};
  ec = http::error::bad_value;
}

void RequestParser::on_request_impl(verb, string_view method, string_view target, int version,
                                    error_code& ec) {
  ec = {};
  head_.method_ = ToStd(method);
  head_.version_ = version;
  if (target.size() > limits_.max_uri_bytes) {
    return Refuse(414, TooLongTarget(limits_.max_uri_bytes), ec);
  }
  head_.target_ = ToStd(target);
  Target parts;
  if (!ParseTarget(head_.method_, head_.target_, parts)) {
    return Refuse(400, "The target of the request is neither a path nor an http URL.", ec);
  }
  head_.path_ = parts.path;
  head_.query_ = parts.query;
}

// Beast joins a folded value in a buffer of its own, which ends when on_field_impl returns; but
// where the first line of the value is empty, it is in our bytes behind the line's end.
bool RequestParser::IsFolded(std::string_view name, std::string_view value) const {
  const char* const end = bytes_.data() + bytes_.size();
  if (value.data() < bytes_.data() || value.data() > end) return !value.empty();
  const char* const begin = name.data() + name.size();
  return std::find(begin, value.data(), '\n') != value.data();
}

void RequestParser::CheckField(field name, std::string_view value, error_code& ec) {
  const RequestHead::Field* before = nullptr;
  switch (name) {
    case field::transfer_encoding:
      if (head_.version_ < 11 || !EqualsIgnoringCase(value, "chunked")) {
        Refuse(400, "The only transfer coding that is understood is chunked, in HTTP/1.1.", ec);
      }
      return;
    case field::content_length:
      if (head_.Last("content-length") != nullptr ||
          !std::all_of(value.begin(), value.end(), IsDigit)) {
        Refuse(400, "Content-Length has to be one number.", ec);
      }
      return;
    case field::host:
      if (head_.Last("host") != nullptr || !IsHost(value)) {
        Refuse(400, "Host has to be one host, with a port or without.", ec);
      }
      return;
    case field::content_type:
      before = head_.Last("content-type");
      break;
    case field::content_encoding:
      before = head_.Last("content-encoding");
      break;
    case field::expect:
      before = head_.Last("expect");
      break;
    default:
      return;
  }
  if (before != nullptr && before->value != value) {
    Refuse(400, "The field " + std::string(before->name) + " comes twice with different values.",
           ec);
  }
}

void RequestParser::on_field_impl(field name, string_view name_text, string_view value,
                                  error_code& ec) {
  ec = {};
  if (in_trailers_) return;
  const std::string_view text = ToStd(value);
  if (IsFolded(ToStd(name_text), text)) {
    ec = http::error::bad_obs_fold;
    return;
  }
  CheckField(name, text, ec);
  if (ec) return;
  if (head_.fields_.size() == static_cast<std::size_t>(limits_.max_headers)) {
    return Refuse(431,
                  "The request has more than " + std::to_string(limits_.max_headers) +
                      " header fields (limits.max_headers).",
                  ec);
  }
  if (EqualsIgnoringCase(ToStd(name_text), "x-forwarded-for")) head_.JoinForwardedFor(text);
  head_.fields_.push_back({ToStd(name_text), text});
}

void RequestParser::on_header_impl(error_code& ec) {
  ec = {};
  if (!head_.is_http_1_0() && head_.Last("host") == nullptr) {
    return Refuse(400, "A request of HTTP/1.1 needs a Host field.", ec);
  }
  if (const auto length = content_length()) declared_length_ = *length;
  in_trailers_ = true;
}

std::size_t RequestParser::on_body_impl(string_view body, error_code& ec) {
  ec = {};
  return body.size();
}

// Beast lets any byte stand in a quoted value. Another server may take a bare line feed there for
// the end of the line.
void RequestParser::on_chunk_header_impl(std::uint64_t, string_view extensions, error_code& ec) {
  ec = {};
  const bool bad = std::any_of(extensions.begin(), extensions.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 127;
  });
  if (bad) ec = http::error::bad_chunk_extension;
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) {
  ec = {};
  if (!sink_.OnChunk(ToStd(body))) ec = http::error::body_limit;
  return body.size();
}

std::size_t FindEndOfHead(std::string_view bytes, std::size_t from) {
  const std::size_t at = bytes.find("\r\n\r\n", from < 3 ? 0 : from - 3);
  return at == std::string_view::npos ? 0 : at + 4;
}

std::optional<HeadRefusal> FindEarlyDefect(std::string_view bytes, std::size_t from,
                                           const core::LimitOptions& limits) {
  if (bytes.empty()) return std::nullopt;
  if (!IsTokenChar(bytes.front())) {
    return HeadRefusal{400, "The request does not begin with a method; this port speaks HTTP/1.1."};
  }
  const std::size_t first_line = bytes.find('\n');
  if (first_line == std::string_view::npos) {
    if (bytes.size() <= limits.max_uri_bytes + kRestOfRequestLine) return std::nullopt;
    return HeadRefusal{414, TooLongTarget(limits.max_uri_bytes)};
  }
  for (std::size_t at = bytes.find('\n', from); at != std::string_view::npos;
       at = bytes.find('\n', at + 1)) {
    if (bytes[at - 1] != '\r') {
      return HeadRefusal{400, "A line of the head ends with a line feed alone; it needs CR LF."};
    }
  }
  constexpr std::size_t kVersion = std::string_view(" HTTP/1.1\r").size();
  if (first_line < kVersion || !bytes.substr(first_line - kVersion).starts_with(" HTTP/")) {
    return HeadRefusal{400, "The request line does not end with the version of HTTP."};
  }
  return std::nullopt;
}

}  // namespace sluice::intake
