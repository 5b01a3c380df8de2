#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "intake/query.h"
#include "intake/session.h"

// The part of Session that chooses and writes answers.
namespace sluice::intake {
namespace {

namespace asio = boost::asio;

constexpr std::string_view kJson = "application/json; charset=utf-8";
constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kAllowAny = "allow: GET,HEAD,POST,OPTIONS\r\n";
constexpr std::size_t kCompressAbove = 1024;
// Above this, compressing would keep the thread from its other connections for too long.
constexpr std::size_t kCompressBelow = 1u << 20;

// Methods as metrics may name them: a closed set.
std::string_view MethodLabel(std::string_view method) {
  for (const std::string_view known :
       {"POST", "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"}) {
    if (method == known) return known;
  }
  return "_other";
}

}  // namespace

// Answers everything but events, which it begins to read.
bool Session::AnswerRoute() {
  const std::string_view method = head_.method();
  if (head_.is_asterisk()) {
    SkipBody();
    AnswerDocument(200, {}, {}, kAllowAny);
    return true;
  }
  if (method == "CONNECT") {  // what follows it is for another protocol
    linger_ = true;
    AnswerProblem(405, "method_not_allowed", "This is no proxy.", kAllowAny);
    return true;
  }
  route_ = parts_->router.Find(head_.path());
  if (route_ == nullptr) {
    SkipBody();
    AnswerProblem(404, "not_found", {});
    return true;
  }
  if (method == "POST") {
    if (route_->kind == RouteKind::kEvents) return BeginEvents();
    if (route_->kind == RouteKind::kStreamConfigApi) return BeginForm();
  }
  SkipBody();
  if (route_->allow.empty()) return AnswerPage();
  if (method == "OPTIONS") {
    AnswerDocument(200, kHtml, route_->allow,
                   "allow: " + std::string(route_->allow) + "\r\n" + PreflightHeaders());
    return true;
  }
  if (route_->kind == RouteKind::kEvents || (method != "GET" && method != "HEAD")) {
    AnswerProblem(405, "method_not_allowed", {}, "allow: " + std::string(route_->allow) + "\r\n");
    return true;
  }
  return AnswerPage();
}

bool Session::AnswerPage() {
  const Pages& pages = parts_->pages;
  switch (route_->kind) {
    case RouteKind::kEvents:
      break;
    case RouteKind::kTestEvents: {
      if (const auto too_fast = TakeFromClient({.requests = 1})) return RefuseTooFast(*too_fast);
      auto permit = parts_->admission.Admit(pages.test_events_size);
      if (!permit) {
        AnswerEvents(ReplyToFailedRequest(permit.error()));
        break;
      }
      permit_ = std::move(*permit);
      return Process(std::string_view(pages.test_events).substr(0, pages.test_events_size),
                     BodyKind::kJson);
    }
    case RouteKind::kInfo:
      AnswerDocument(200, kJson, pages.info);
      break;
    case RouteKind::kInfoName:
      AnswerDocument(200, kJson, pages.info_name);
      break;
    case RouteKind::kInfoVersion:
      AnswerDocument(200, kJson, pages.info_version);
      break;
    case RouteKind::kInfoHome:
      AnswerDocument(pages.home_location.empty() ? 404 : 301, kText, pages.home_body,
                     pages.home_location);
      break;
    case RouteKind::kRobots:
      AnswerDocument(200, kText, pages.robots);
      break;
    case RouteKind::kRoot:
      if (HasParameter(head_.query(), "spec")) {
        AnswerDocument(200, kJson, pages.open_api);
      } else if (HasParameter(head_.query(), "doc")) {
        AnswerDocument(200, kHtml, pages.doc, {}, pages.doc_csp);
      } else {
        AnswerProblem(404, "not_found", {});
      }
      break;
    case RouteKind::kStreamConfigs:
    case RouteKind::kNamedStreamConfigs:
      if (const auto too_fast = TakeFromClient({.requests = 1})) return AnswerTooFast(*too_fast);
      return AnswerStreamConfigs();
    case RouteKind::kStreamConfigApi:
      if (const auto too_fast = TakeFromClient({.requests = 1})) return AnswerTooFast(*too_fast);
      return AnswerStreamConfigApi({});
  }
  return true;
}

void Session::AnswerDocument(int status, std::string_view content_type, std::string_view body,
                             std::string_view headers, std::string_view csp) {
  Answer answer;
  answer.status = status;
  answer.content_type = content_type;
  answer.body = body;
  answer.headers = headers;
  answer.csp = csp;
  SendAnswer(answer);
}

void Session::AnswerProblem(int status, std::string_view type, std::string_view detail,
                            std::string_view headers) {
  if (linger_) connection_ = Connection::kClose;
  const std::string body =
      ProblemDocument(status, type, ReasonPhrase(status), detail, head_.method(), head_.target());
  Answer answer;
  answer.status = status;
  answer.content_type = kJson;
  answer.body = body;
  answer.headers = headers;
  SendAnswer(answer);
}

// The request is answered without its body: skips that where it is here already, else ends the
// connection afterwards.
void Session::SkipBody() {
  if (step_ == Step::kHead && !parser_->chunked()) {
    const std::uint64_t length = parser_->declared_length();
    if (length <= in_.size() - begin_) {
      begin_ += static_cast<std::size_t>(length);
      return;
    }
  } else if (step_ == Step::kInflate) {
    return;  // it was read to its end
  }
  linger_ = true;
  connection_ = Connection::kClose;
}

// An answer that the handler was not asked for.
void Session::AnswerEvents(IngestReply&& reply) {
  step_ = Step::kProcess;
  answer_owed_ = true;
  OnReply(std::move(reply));
}

void Session::OnReply(IngestReply&& reply) {
  if (!answer_owed_) return;  // given up on, and answered, before
  answer_owed_ = false;
  if (step_ == Step::kClosed) return;  // the client has gone
  if (reply.close || EndsHere()) connection_ = Connection::kClose;
  const bool succeeded = reply.status < 300;
  if (reply.status == 201 && reply.events == 1 && reply.reason.empty() && AllowedOrigin().empty()) {
    Count(201);
    Send(host_.writer.Accepted(reply.durability, connection_), {});
    return Pump();
  }
  Answer answer;
  answer.status = reply.status;
  if (reply.status == 201 && reply.reason.empty()) {
    const std::string events = std::to_string(reply.events);
    reply.reason = "All " + events + " out of " + events + " events were accepted.";
  }
  answer.reason = reply.reason;
  std::string headers;
  if (succeeded) headers += DurabilityHeader(reply.durability);
  if (reply.retry_after_seconds) {
    headers += "Retry-After: " + std::to_string(*reply.retry_after_seconds) + "\r\n";
  }
  answer.headers = headers;
  if (!reply.body.empty()) answer.content_type = kJson;
  answer.body = reply.body;
  SendAnswer(answer);
  Pump();
}

// While leaving, requests that were sent behind this one and are here already get their answers.
bool Session::EndsHere() const {
  if (!parts_->admission.leaving() && !IsOld()) return false;
  return parts_->admission.draining() || (in_.size() == begin_ && chunks_.size() == chunks_begin_);
}

void Session::SendAnswer(Answer& answer) {
  if (EndsHere()) connection_ = Connection::kClose;
  answer.connection = connection_;
  answer.origin = AllowedOrigin();
  const bool is_head = head_.method() == "HEAD";
  std::string headers(answer.headers);
  std::string packed;
  if (!is_head && answer.body.size() >= kCompressAbove && answer.body.size() <= kCompressBelow &&
      parts_->config.http.compression_level > 0) {
    const ContentCoding coding = ChooseAnswerCoding(head_.Header("accept-encoding"));
    if (coding != ContentCoding::kIdentity &&
        Deflate(coding, parts_->config.http.compression_level, answer.body, packed)) {
      headers += coding == ContentCoding::kGzip ? "content-encoding: gzip\r\n"
                                                : "content-encoding: deflate\r\n";
      answer.body = packed;
    }
  }
  answer.headers = headers;
  answer.content_length = answer.body.size();
  host_.writer.WriteHead(answer, host_.scratch);
  Count(answer.status);
  Send(host_.scratch, is_head ? std::string_view() : answer.body);
}

// Most answers go out in this call: the socket does not block and its buffer is empty.
void Session::Send(std::string_view head, std::string_view body,
                   std::shared_ptr<const void> owner) {
  host_.deadlines.Set(*this, Wait::kNone);
  boost::system::error_code ec;
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(body)};
  const std::size_t sent = transport_.write_some(parts, ec);
  if (ec && ec != asio::error::would_block) return Close();
  if (sent == head.size() + body.size()) return OnSent();
  step_ = Step::kWrite;
  head.remove_prefix(std::min(sent, head.size()));
  body.remove_prefix(sent > parts[0].size() ? sent - parts[0].size() : 0);
  unsent_permit_ = parts_->admission.Reserve(head.size() + (owner ? 0 : body.size()));
  if (!unsent_permit_) return Close();  // a client that does not read may not fill the memory
  unsent_ = head;
  if (!owner) unsent_ += std::exchange(body, {});
  unsent_owner_ = std::move(owner);
  host_.deadlines.Set(*this, Wait::kWrite);
  asio::async_write(
      transport_, std::array<asio::const_buffer, 2>{asio::buffer(unsent_), asio::buffer(body)},
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
        if (self->step_ == Step::kClosed) return;
        if (error) return self->Close();
        self->unsent_.clear();
        self->unsent_.shrink_to_fit();
        self->unsent_owner_.reset();
        self->unsent_permit_.Free();
        self->OnSent();
        self->Pump();
      });
}

void Session::OnSent() {
  if (in_handler_) {  // which may go on reading head and body: they must stay where they are
    sent_in_handler_ = true;
    return;
  }
  if (connection_ != Connection::kClose) return FinishRequest();
  // Closing a socket with unread bytes resets it, and a reset may overtake the answer.
  if (linger_ || in_.size() > begin_ || parts_->admission.leaving() || IsOld()) {
    return Linger();
  }
  GracefulClose();
}

// The request's origin, if answers are for some origins only and it is one of them.
std::string_view Session::AllowedOrigin() const {
  const auto& origins = parts_->config.http.cors_origins;
  if (origins.empty()) return {};
  const std::string_view origin = head_.Header("origin");
  return std::find(origins.begin(), origins.end(), origin) != origins.end() ? origin
                                                                            : std::string_view();
}

std::string Session::PreflightHeaders() const {
  const core::HttpOptions& http = parts_->config.http;
  const bool allowed = http.cors_origins.empty() ? http.cors.has_value() : !AllowedOrigin().empty();
  if (!allowed || http.cors_max_age == 0) return {};
  return "access-control-max-age: " + std::to_string(http.cors_max_age) + "\r\n";
}

void Session::Count(int status) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun_;
  parts_->metrics.CountRequest(route_ != nullptr ? std::string_view(route_->label) : "_other",
                               MethodLabel(head_.method()), status, took.count());
}

}  // namespace sluice::intake
