#include <boost/asio/post.hpp>
#include <utility>

#include "intake/query.h"
#include "intake/request_log.h"
#include "intake/session.h"
#include "intake/text.h"

// The part of Session that serves the stream configuration.
namespace sluice::intake {
namespace {

namespace asio = boost::asio;
using streams::ServedAs;

constexpr std::string_view kJson = "application/json; charset=utf-8";
// Of the API, as MediaWiki says it. The other routes leave it to the entity tag.
constexpr std::string_view kCacheable = "cache-control: public, max-age=600, s-maxage=600\r\n";
constexpr std::string_view kNotCacheable = "cache-control: private, must-revalidate, max-age=0\r\n";
constexpr std::uint64_t kMaxFormBytes = 64 * 1024;

bool IsForm(std::string_view content_type) {
  return EqualsIgnoringCase(Trim(TakeUntil(content_type, ';')),
                            "application/x-www-form-urlencoded");
}

}  // namespace

bool Session::BeginForm() {
  const std::uint64_t length = parser_->declared_length();
  if (const auto too_fast = TakeFromClient({.requests = 1, .bytes = length})) {
    SkipBody();
    return AnswerTooFast(*too_fast);
  }
  if (!parser_->chunked() && length == 0) return AnswerStreamConfigApi({});
  const bool is_form =
      IsForm(head_.Header("content-type")) && head_.Header("content-encoding").empty();
  if (!is_form || length > kMaxFormBytes) {
    SkipBody();
    AnswerProblem(is_form ? 413 : 415, is_form ? "body_too_large" : "unsupported_media_type",
                  "Parameters are read from the query, or from a body of at most " +
                      std::to_string(kMaxFormBytes) +
                      " bytes of application/x-www-form-urlencoded.");
    return true;
  }
  auto permit = parts_->admission.Admit(length);
  if (!permit) return Refuse(permit.error());
  permit_ = std::move(*permit);
  coding_ = ContentCoding::kIdentity;
  return parser_->chunked() ? BeginChunks() : BeginBody(length);
}

// GET /v1/stream-configs and /v1/stream-configs/a,b: as the original, so always 200.
bool Session::AnswerStreamConfigs() {
  const auto snapshot = parts_->stream_configs->registry().Current();
  if (!snapshot) {
    AnswerProblem(503, "stream_config_unavailable", "No stream configuration was read yet.");
    return true;
  }
  if (route_->kind == RouteKind::kStreamConfigs) {
    GetStreamConfigs(ServedAs::kAsRead, {});
    return true;
  }
  const std::string decoded = DecodePathPart(Router::Parameter(*route_, head_.path()));
  std::string body;
  streams::AppendNamed(*snapshot, streams::SplitNames(decoded, ",|"), ServedAs::kAsRead, body,
                       [this](std::string_view name) { LogUnknown(name); });
  AnswerTagged(body, EntityTag(body));
  return true;
}

bool Session::AnswerStreamConfigApi(std::string_view form) {
  auto parameters = AllParameters(head_.query());
  if (!form.empty()) {
    for (auto& parameter : AllParameters(form)) parameters.push_back(std::move(parameter));
  }
  const auto reading = streams::ReadStreamQuery(parameters);
  const auto snapshot = parts_->stream_configs->registry().Current();
  if (reading.error || !snapshot) {
    const auto error = reading.error.value_or(streams::QueryError{
        "internal_api_error_unavailable", "No stream configuration was read yet.", {}});
    AnswerDocument(reading.error ? 200 : 503, kJson, streams::ErrorAnswer(error),
                   std::string(kNotCacheable) + "mediawiki-api-error: " + error.code + "\r\n");
    return true;
  }
  if (!reading.query.names_only()) {
    GetStreamConfigs(ServedAs::kApi, reading.query);
    return true;
  }
  std::string body;
  streams::AppendAnswer(*snapshot, reading.query, body,
                        [this](std::string_view name) { LogUnknown(name); });
  AnswerTagged(body, EntityTag(body));
  return true;
}

void Session::LogUnknown(std::string_view stream) const {
  LogUnknownStream(stream, head_.Header("x-request-id"), TraceIdOf(head_.Header("traceparent")));
}

void Session::GetStreamConfigs(ServedAs served_as, const streams::StreamQuery& query) {
  // The last owner of a session has to let go of it on its thread.
  auto later = [executor = transport_.get_executor(),
                self = shared_from_this()](DocumentPtr document) mutable {
    asio::post(executor, [session = std::move(self), made = std::move(document)] {
      session->OnStreamConfigs(made);
    });
  };
  const DocumentPtr document = parts_->stream_configs->Get(served_as, query, std::move(later));
  if (document) return SendStreamConfigs(document);
  step_ = Step::kProcess;
  answer_owed_ = true;
  host_.deadlines.Set(*this, Wait::kDelivery);
}

void Session::OnStreamConfigs(const DocumentPtr& document) {
  if (!std::exchange(answer_owed_, false) || step_ == Step::kClosed) return;
  if (document) {
    SendStreamConfigs(document);
  } else {
    AnswerProblem(503, "overloaded", "The service is busy or stops.", "Retry-After: 1\r\n");
  }
  Pump();
}

void Session::AnswerTagged(std::string_view body, std::string_view etag) {
  const std::string headers = StreamConfigHeaders(etag);
  if (HasEntityTag(head_.Header("if-none-match"), etag)) {
    AnswerDocument(304, {}, {}, headers + "vary: Accept-Encoding\r\n");
  } else {
    AnswerDocument(200, kJson, body, headers);
  }
}

void Session::SendStreamConfigs(const DocumentPtr& document) {
  if (HasEntityTag(head_.Header("if-none-match"), document->etag)) {
    return AnswerTagged({}, document->etag);
  }
  std::string headers = StreamConfigHeaders(document->etag);
  std::string_view body = document->body;
  if (!document->gzip.empty() &&
      ChooseAnswerCoding(head_.Header("accept-encoding")) == ContentCoding::kGzip) {
    body = document->gzip;
    headers += "content-encoding: gzip\r\n";
  }
  if (EndsHere()) connection_ = Connection::kClose;
  Answer answer;
  answer.content_type = kJson;
  answer.headers = headers;
  answer.content_length = body.size();
  answer.connection = connection_;
  answer.origin = AllowedOrigin();
  host_.writer.WriteHead(answer, host_.scratch);
  Count(answer.status);
  Send(host_.scratch, head_.method() == "HEAD" ? std::string_view() : body, document);
}

std::string Session::StreamConfigHeaders(std::string_view etag) const {
  std::string headers = "etag: ";
  headers.append(etag).append("\r\n");
  if (route_->kind != RouteKind::kStreamConfigApi) return headers;
  headers += kCacheable;
  // MediaWiki's way to ask for CORS, which then does not depend on who asks.
  if (!parts_->config.http.cors && parts_->config.http.cors_origins.empty() &&
      FindParameter(head_.query(), "origin") == "*") {
    headers += "access-control-allow-origin: *\r\naccess-control-expose-headers: etag\r\n";
  }
  return headers;
}

}  // namespace sluice::intake
