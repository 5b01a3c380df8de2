#include "intake/session.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

namespace sluice::intake {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

// Takes a usual head and a small event. A connection that stays idle costs this much.
constexpr std::size_t kReadBufferBytes = 4096;

}  // namespace

Session::Session(SessionHost& host, Socket socket, std::string peer_address)
    : host_(host),
      socket_(std::move(socket)),
      peer_address_(std::move(peer_address)),
      peer_is_trusted_(host.parts.trusted_proxies.Contains(peer_address_)) {
  in_.Reserve(kReadBufferBytes);
}

void Session::Start() {
  host_.sessions.insert(this);
  host_.connections.fetch_add(1, std::memory_order_relaxed);
  Pump();
}

void Session::Drain() {
  if (step_ == Step::kHead && !head_begun_ && in_.size() == begin_) GracefulClose();
}

void Session::EndHalfRequest() {
  if (step_ == Step::kBody || step_ == Step::kChunks) {
    if (Refuse({core::ErrorCode::kShuttingDown, "The service is shutting down."})) Pump();
  } else if (step_ == Step::kHead) {
    GracefulClose();
  }
}

void Session::Close() {
  if (step_ == Step::kClosed) return;
  step_ = Step::kClosed;
  host_.deadlines.Set(*this, Wait::kNone);
  host_.sessions.erase(this);
  host_.connections.fetch_sub(1, std::memory_order_release);
  host_.parts.admission.Disconnected();
  socket_.reset();
  inflater_.reset();
  permit_.Free();
  unsent_permit_.Free();
  in_permit_.Free();
}

void Session::GracefulClose() {
  boost::system::error_code ignored;
  if (socket_) socket_->shutdown(asio::socket_base::shutdown_send, ignored);
  Close();
}

void Session::Linger() {
  step_ = Step::kLinger;
  boost::system::error_code ignored;
  socket_->shutdown(asio::socket_base::shutdown_send, ignored);
  host_.deadlines.Set(*this, Wait::kLinger);
  in_.Clear();
  begin_ = 0;
  Read(in_);
}

void Session::Pump() {
  if (pumping_) return;  // an answer came inside Process: the loop below goes on with it
  pumping_ = true;
  bool more = true;
  while (more) {
    switch (step_) {
      case Step::kHead:
        more = TakeHead();
        break;
      case Step::kBody:
        more = TakeBody();
        break;
      case Step::kChunks:
        more = TakeChunks();
        break;
      case Step::kInflate:
        more = TakeInflated();
        break;
      case Step::kProcess:
      case Step::kWrite:
      case Step::kLinger:
      case Step::kClosed:
        more = false;
        break;
    }
  }
  pumping_ = false;
}

void Session::Read(ByteBuffer& into) {
  socket_->async_read_some(
      asio::buffer(into.end(), into.spare()),
      [self = shared_from_this(), &into](const boost::system::error_code& ec, std::size_t bytes) {
        self->OnRead(into, ec, bytes);
      });
}

void Session::OnRead(ByteBuffer& into, const boost::system::error_code& ec, std::size_t bytes) {
  if (step_ == Step::kClosed) return;
  if (ec) return Close();
  if (step_ == Step::kLinger) {
    drained_ += bytes;
    if (drained_ > host_.parts.config.limits.drain_bytes) return Close();
    return Read(into);
  }
  into.Grow(bytes);
  Pump();
}

bool Session::TakeHead() {
  while (begin_ < in_.size() && (in_.data()[begin_] == '\r' || in_.data()[begin_] == '\n')) {
    ++begin_;  // RFC 9112 2.2: empty lines before a request are skipped
    scanned_ = 0;
  }
  const std::string_view bytes = in_.view().substr(begin_);
  const std::size_t size = bytes.empty() ? 0 : FindEndOfHead(bytes, scanned_);
  const std::size_t max_bytes = host_.parts.config.limits.max_header_bytes;
  if (!bytes.empty() && !head_begun_) begun_ = std::chrono::steady_clock::now();
  if (size > max_bytes || (size == 0 && bytes.size() >= max_bytes)) {
    head_.Clear();
    linger_ = true;
    AnswerProblem(431, "header_too_large",
                  "The head of the request is larger than " + std::to_string(max_bytes) +
                      " bytes (limits.max_header_bytes).");
    return true;
  }
  if (size == 0) return WaitForHead(bytes.size());
  parser_.emplace(head_, *this, bytes.substr(0, size));
  boost::system::error_code ec;
  parser_->put(asio::const_buffer(bytes.data(), size), ec);
  begin_ += size;
  scanned_ = 0;
  if (ec) {
    linger_ = true;
    connection_ = Connection::kClose;
    const int status = ec == http::error::header_limit  ? 431
                       : ec == http::error::bad_version ? 505
                                                        : 400;
    AnswerProblem(status, "bad_request",
                  "The head of the request is not valid HTTP: " + ec.message() + ".");
    return true;
  }
  connection_ = !parser_->keep_alive() ? Connection::kClose
                : head_.is_http_1_0()  ? Connection::kKeepAliveHttp10
                                       : Connection::kKeepAlive;
  return AnswerRoute();
}

// Reads more of a head. The deadline runs from its first byte, however slowly the others come.
bool Session::WaitForHead(std::size_t got) {
  if (got == 0 && host_.parts.admission.draining()) {
    GracefulClose();
    return false;
  }
  if (got > 0 && !head_begun_) {
    head_begun_ = true;
    host_.deadlines.Set(*this, Wait::kHeader);
  } else if (got == 0) {
    host_.deadlines.Set(*this, Wait::kIdle);
  }
  scanned_ = got;
  if (!MakeRoomForHead()) return false;
  Read(in_);
  return false;
}

bool Session::MakeRoomForHead() {
  in_.DropFront(begin_);
  begin_ = 0;
  if (in_.size() == 0 && in_.capacity() > kReadBufferBytes) {
    in_.Free();
    in_.Reserve(kReadBufferBytes);
    in_permit_.Free();
  }
  if (in_.spare() > 0) return true;
  const std::size_t capacity = 2 * in_.capacity();
  Permit permit = host_.parts.admission.Reserve(capacity);
  if (!permit) {
    Close();  // not even a head fits into memory: no answer would help
    return false;
  }
  in_permit_ = std::move(permit);
  in_.Reserve(capacity);
  return true;
}

void Session::FinishRequest() {
  host_.GiveBuffer(std::move(body_));
  if (chunks_.capacity() > 0) {  // what was pipelined behind a chunked body
    in_.Clear();
    in_.Append(chunks_.view().substr(chunks_begin_));
    begin_ = 0;
    chunks_.Free();
    chunks_begin_ = 0;
  }
  permit_.Free();
  parser_.reset();
  route_ = nullptr;
  head_begun_ = false;
  head_.Clear();  // its views end with the buffer's bytes
  body_error_.reset();
  scanned_ = 0;
  step_ = Step::kHead;
}

void Session::OnDeadline(Wait what) {
  const auto self = shared_from_this();
  switch (what) {
    case Wait::kHeader:
    case Wait::kBody:
      AbandonRequest();
      return;
    case Wait::kDelivery:
      connection_ = Connection::kClose;  // the handler still owes an answer: no other request here
      OnReply(ReplyToFailedRequest(
          {core::ErrorCode::kDeliveryTimeout, "The events were not acknowledged in time."}));
      return;
    case Wait::kNone:
    case Wait::kIdle:
    case Wait::kWrite:
    case Wait::kLinger:
      Close();
      return;
  }
}

}  // namespace sluice::intake
