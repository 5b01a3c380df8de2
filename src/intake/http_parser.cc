#include "intake/http_parser.h"

#include <boost/beast/http/error.hpp>
#include <limits>

#include "intake/text.h"

namespace sluice::intake {
namespace {

namespace http = boost::beast::http;

std::string_view ToStd(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void RequestHead::Clear() {
  method_ = target_ = path_ = query_ = {};
  version_ = 11;
  fields_.clear();
  forwarded_for_.clear();
}

std::string_view RequestHead::Header(std::string_view lower_case_name) const {
  if (!forwarded_for_.empty() && lower_case_name == "x-forwarded-for") return forwarded_for_;
  for (auto field = fields_.rbegin(); field != fields_.rend(); ++field) {
    if (EqualsIgnoringCase(field->name, lower_case_name)) return field->value;
  }
  return {};
}

void RequestHead::SplitTarget() {
  std::string_view rest = target_;
  if (!rest.starts_with('/')) {  // absolute form, which proxies send
    const std::size_t scheme = rest.find("://");
    if (scheme != std::string_view::npos && rest.find_first_of("/?#") > scheme) {
      rest.remove_prefix(scheme + 3);
      const std::size_t path = rest.find_first_of("/?");
      rest = path == std::string_view::npos ? std::string_view("/") : rest.substr(path);
    }
  }
  path_ = TakeUntil(rest, '?');
  if (path_.empty()) path_ = "/";
  query_ = rest.substr(0, rest.find('#'));
}

void RequestHead::JoinForwardedFor(std::string_view value) {
  constexpr std::string_view kName = "x-forwarded-for";
  const std::string_view before = Header(kName);
  if (before.empty()) return;
  if (forwarded_for_.empty()) forwarded_for_ = before;
  forwarded_for_ += ", ";
  forwarded_for_ += value;
}

RequestParser::RequestParser(RequestHead& head, ChunkSink& sink, std::string_view bytes)
    : head_(head), sink_(sink), bytes_(bytes) {
  // The session bounds both, with answers of its own.
  header_limit(std::numeric_limits<std::uint32_t>::max());
  body_limit(boost::none);
  head_.Clear();
}

void RequestParser::on_request_impl(verb, string_view method, string_view target, int version,
                                    error_code& ec) {
  ec = {};
  head_.method_ = ToStd(method);
  head_.target_ = ToStd(target);
  head_.version_ = version;
  head_.SplitTarget();
}

void RequestParser::on_field_impl(field name, string_view name_text, string_view value,
                                  error_code& ec) {
  ec = {};
  if (in_trailers_) return;
  // A folded value was joined in a buffer of the parser's own, which ends when we return.
  if (!value.empty() &&
      (value.data() < bytes_.data() || value.data() >= bytes_.data() + bytes_.size())) {
    ec = http::error::bad_obs_fold;
    return;
  }
  if (name == field::transfer_encoding &&
      (head_.version_ < 11 || !EqualsIgnoringCase(Trim(ToStd(value)), "chunked"))) {
    ec = http::error::bad_transfer_encoding;
    return;
  }
  if (head_.fields_.size() == RequestHead::kMaxFields) {
    ec = http::error::header_limit;
    return;
  }
  const std::string_view text = ToStd(value);
  if (EqualsIgnoringCase(ToStd(name_text), "x-forwarded-for")) head_.JoinForwardedFor(text);
  head_.fields_.push_back({ToStd(name_text), text});
}

void RequestParser::on_header_impl(error_code& ec) {
  ec = {};
  if (const auto length = content_length()) declared_length_ = *length;
  in_trailers_ = true;
}

std::size_t RequestParser::on_body_impl(string_view body, error_code& ec) {
  ec = {};
  return body.size();
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

}  // namespace sluice::intake
