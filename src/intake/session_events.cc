#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

#include "core/log.h"
#include "core/loggable.h"
#include "intake/query.h"
#include "intake/request_log.h"
#include "intake/session.h"
#include "intake/text.h"

// The part of Session that reads bodies of events and hands them over.
namespace sluice::intake {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr std::size_t kChunkBufferBytes =
    16 * 1024;  // a chunk's header line and the trailers must fit
constexpr std::uint64_t kBodyStepBytes = 64 * 1024;     // charged ahead of what has come
constexpr std::size_t kInflateSliceBytes = 512 * 1024;  // about a millisecond's work

}  // namespace

core::Result<void> Session::ReadBodyHeaders() {
  const auto coding = ReadContentEncoding(head_.Header("content-encoding"));
  if (!coding) return coding.error();
  coding_ = *coding;
  const auto kind = ReadContentType(head_.Header("content-type"));
  if (!kind) return kind.error();
  body_kind_ = *kind;
  return {};
}

bool Session::BeginEvents() {
  const bool chunked = parser_->chunked();
  const std::uint64_t length = parser_->declared_length();
  if (!chunked && length == 0) {
    AnswerEvents(ReplyToEmptyBody());
    return true;
  }
  const std::string_view expect = head_.Header("expect");
  if (!expect.empty() && !EqualsIgnoringCase(expect, "100-continue")) {
    SkipBody();
    AnswerProblem(417, "expectation_failed", "Only 100-continue can be expected.");
    return true;
  }
  const std::uint64_t max_bytes = parts_->config.http.max_body_bytes;
  if (length > max_bytes) {
    return Refuse({core::ErrorCode::kBodyTooLarge,
                   "The body of " + std::to_string(length) + " bytes is larger than " +
                       std::to_string(max_bytes) + " (max_body_size)."});
  }
  if (const auto headers = ReadBodyHeaders(); !headers) {
    if (!chunked || !expect.empty()) return Refuse(headers.error());
    body_error_ = headers.error();  // unless the chunked body turns out to be empty
  }
  if (const auto too_fast = TakeFromClient({.requests = 1, .bytes = length})) {
    return RefuseTooFast(*too_fast);
  }
  auto permit =
      parts_->admission.Admit(chunked ? kChunkBufferBytes : std::min(length, kBodyStepBytes));
  if (!permit) return Refuse(permit.error());
  permit_ = std::move(*permit);
  return chunked ? BeginChunks() : BeginBody(length);
}

bool Session::BeginBody(std::uint64_t length) {
  body_length_ = static_cast<std::size_t>(length);
  step_ = Step::kBody;
  const std::size_t here = in_.size() - begin_;
  if (body_length_ <= in_.capacity() - begin_) {
    body_place_ = BodyPlace::kReadBuffer;
  } else {
    body_place_ = BodyPlace::kOwnBuffer;
    body_ = host_.TakeBuffer(body_length_);
    body_.Append(in_.view().substr(begin_, here));
    begin_ += here;
  }
  if (here < body_length_) {
    if (here == 0 && !SendContinueIfAsked()) return false;
    host_.deadlines.Set(*this, Wait::kBody);
  }
  return true;
}

bool Session::TakeBody() {
  if (body_place_ == BodyPlace::kReadBuffer) {
    if (in_.size() - begin_ < body_length_) {
      Read(in_);
      return false;
    }
    const std::string_view body = in_.view().substr(begin_, body_length_);
    begin_ += body_length_;
    return HandOver(body);
  }
  if (body_.size() < body_length_) {
    // What was announced costs nothing, what has come does: a silent sender holds no memory.
    const std::uint64_t wanted =
        std::min<std::uint64_t>(body_length_, body_.size() + kBodyStepBytes);
    if (wanted > permit_.bytes() && !permit_.Charge(wanted - permit_.bytes())) {
      return Refuse(parts_->admission.MemoryError(wanted));
    }
    transport_.async_read_some(
        asio::buffer(body_.end(), wanted - body_.size()),
        [self = shared_from_this()](const boost::system::error_code& ec, std::size_t bytes) {
          self->OnRead(self->body_, ec, bytes);
        });
    return false;
  }
  return HandOver(body_.view());
}

bool Session::BeginChunks() {
  chunks_.Reserve(std::max(kChunkBufferBytes, in_.size() - begin_));
  chunks_.Append(in_.view().substr(begin_));
  begin_ = in_.size();
  chunks_begin_ = 0;
  parser_->eager(true);
  step_ = Step::kChunks;
  host_.deadlines.Set(*this, Wait::kBody);
  return chunks_.size() > 0 || SendContinueIfAsked();
}

bool Session::TakeChunks() {
  while (!parser_->is_done()) {
    const std::string_view raw = chunks_.view().substr(chunks_begin_);
    boost::system::error_code ec = http::error::need_more;
    if (!raw.empty()) chunks_begin_ += parser_->put(asio::const_buffer(raw.data(), raw.size()), ec);
    if (ec == http::error::body_limit && body_error_) return Refuse(*body_error_);
    if (ec && ec != http::error::need_more) {
      connection_ = Connection::kClose;
      return Refuse({core::ErrorCode::kMalformedBody,
                     "The chunked coding of the body is not valid: " + ec.message() + "."});
    }
    if (!ec) continue;
    chunks_.DropFront(chunks_begin_);
    chunks_begin_ = 0;
    if (chunks_.spare() == 0) {
      return Refuse({core::ErrorCode::kMalformedBody,
                     "A chunk's header line, or the trailers, are longer than " +
                         std::to_string(chunks_.capacity()) + " bytes."});
    }
    Read(chunks_);
    return false;
  }
  body_length_ = body_.size();
  if (const auto too_fast = TakeFromClient({.bytes = body_length_})) {
    return RefuseTooFast(*too_fast);
  }
  return HandOver(body_.view());
}

bool Session::OnChunk(std::string_view bytes) {
  if (body_error_) return false;
  const std::uint64_t max_bytes = parts_->config.http.max_body_bytes;
  if (body_.size() + bytes.size() > max_bytes) {
    body_error_ = core::Error{
        core::ErrorCode::kBodyTooLarge,
        "The body is larger than " + std::to_string(max_bytes) + " bytes (max_body_size)."};
    return false;
  }
  if (bytes.size() > body_.spare()) {
    const std::size_t capacity = std::max(body_.size() + bytes.size(), 2 * body_.capacity());
    if (!permit_.Charge(capacity - body_.capacity())) {
      body_error_ = parts_->admission.MemoryError(capacity);
      return false;
    }
    body_.Reserve(capacity);
  }
  body_.Append(bytes);
  return true;
}

bool Session::SendContinueIfAsked() {
  if (head_.is_http_1_0() || head_.Header("expect").empty()) return true;
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  boost::system::error_code ec;
  // Nothing else was written on this connection that is still on its way, so there is room for 25
  // bytes.
  if (transport_.write_some(asio::buffer(kContinue), ec) == kContinue.size()) return true;
  Close();
  return false;
}

bool Session::HandOver(std::string_view body) {
  if (coding_ == ContentCoding::kIdentity || body.empty()) return Process(body, body_kind_);
  host_.deadlines.Set(*this, Wait::kNone);
  inflater_.emplace(coding_, body, parts_->config.http.max_body_bytes, permit_, inflated_);
  step_ = Step::kInflate;
  return true;
}

// One slice; between slices the thread serves its other connections.
bool Session::TakeInflated() {
  const auto progress = inflater_->Continue(kInflateSliceBytes);
  if (progress && *progress == Inflater::Progress::kMore) {
    asio::post(transport_.get_executor(), [self = shared_from_this()] { self->Pump(); });
    return false;
  }
  inflater_.reset();
  if (!progress) {
    inflated_.Free();
    return Refuse(progress.error());
  }
  permit_.Refund(body_length_);
  host_.GiveBuffer(std::move(body_));
  body_ = std::move(inflated_);
  return Process(body_.view(), body_kind_);
}

bool Session::Process(std::string_view body, BodyKind kind) {
  if (route_->kind == RouteKind::kStreamConfigApi) return AnswerStreamConfigApi(body);
  if (body.empty()) {
    AnswerEvents(ReplyToEmptyBody());
    return true;
  }
  step_ = Step::kProcess;
  answer_owed_ = true;
  host_.deadlines.Set(*this, Wait::kDelivery);
  core::UuidText made;
  IngestRequest request;
  request.body = body;
  request.kind = kind;
  request.mode =
      IsHasty(head_.query()) ? produce::DeliveryMode::kHasty : produce::DeliveryMode::kGuaranteed;
  request.headers = &head_;
  request.request_id = head_.Header("x-request-id");
  if (request.request_id.empty()) {
    made = host_.uuids.Next();
    request.request_id = core::View(made);
  }
  request.trace_id = TraceIdOf(head_.Header("traceparent"));
  request.peer_address = peer_.address;
  request.peer_is_trusted = peer_.is_trusted;
  request.client = client_;
  const core::HttpOptions& options = parts_->config.http;
  std::optional<std::string> schema_uri;
  std::optional<std::string> stream;
  if (options.schema_uri_query_param) {
    schema_uri = FindParameter(head_.query(), *options.schema_uri_query_param);
    if (schema_uri) request.schema_uri_default = *schema_uri;
  }
  if (options.stream_query_param) {
    stream = FindParameter(head_.query(), *options.stream_query_param);
    if (stream) request.stream_default = *stream;
  }
  request.permit = std::move(permit_);
  in_handler_ = true;
  host_.handler->Process(std::move(request), shared_from_this());
  in_handler_ = false;
  if (std::exchange(sent_in_handler_, false)) {
    OnSent();
  } else if (step_ == Step::kProcess) {
    host_.GiveBuffer(std::move(body_));
  }
  return true;
}

bool Session::Refuse(const core::Error& error, std::optional<int> retry_after_seconds) {
  parts_->metrics.CountFailure({}, {}, false, error.code);
  core::Log(core::LogLevel::kInfo, "request_refused", "A request was refused.",
            {{"code", core::ToString(error.code)},
             {"path", route_->label},
             {"request_id", core::LoggableName(head_.Header("x-request-id"))},
             {"trace_id", TraceIdOf(head_.Header("traceparent"))},
             {"why", LoggableMessage(error)}});
  host_.handler->NoteRefused(error, head_.Header("x-request-id"), parser_->declared_length());
  SkipBody();
  permit_.Free();
  IngestReply reply = ReplyToFailedRequest(error);
  if (retry_after_seconds) reply.retry_after_seconds = retry_after_seconds;
  AnswerEvents(std::move(reply));
  return true;
}

// The head or the body did not come in time.
void Session::AbandonRequest() {
  connection_ = Connection::kClose;
  Answer answer;
  answer.status = 408;
  answer.connection = connection_;
  host_.writer.WriteHead(answer, host_.scratch);
  boost::system::error_code ignored;
  transport_.write_some(asio::buffer(host_.scratch), ignored);
  Count(408);
  GracefulClose();
}

}  // namespace sluice::intake
