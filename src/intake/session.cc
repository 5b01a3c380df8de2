#include "intake/session.h"

#include <boost/asio/buffer.hpp>

namespace sluice::intake {
namespace {

namespace asio = boost::asio;

// Takes a usual head and a small event. A connection that stays idle costs this much.
constexpr std::size_t kReadBufferBytes = 4096;
constexpr std::uint8_t kMaxEmptyLines = 8;
constexpr std::string_view kSpeaksTls =
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\ncontent-type: text/plain\r\n"
    "content-length: 24\r\n\r\nThis port speaks HTTPS.\n";

// Give or take a tenth, so that what connected at one time does not come back at one time.
std::chrono::steady_clock::time_point EndOfConnection(SessionHost& host) {
  const std::chrono::milliseconds age = host.parts->config.limits.max_connection_age;
  if (age.count() == 0) return std::chrono::steady_clock::time_point::max();
  std::uniform_real_distribution<double> share(0.9, 1.1);
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(age * share(host.random));
}

}  // namespace

Session::Session(SessionHost& host, Transport transport, Peer peer)
    : host_(host),
      parts_(host.parts),
      transport_(std::move(transport)),
      peer_(std::move(peer)),
      closes_after_(EndOfConnection(host)) {
  in_.Reserve(kReadBufferBytes);
}

void Session::Start() {
  host_.sessions.insert(this);
  host_.connections.fetch_add(1, std::memory_order_relaxed);
  if (transport_.is_tls()) return Handshake();
  Pump();
}

void Session::Handshake() {
  step_ = Step::kHandshake;
  host_.deadlines.Set(*this, Wait::kHeader);
  transport_.async_handshake(
      [self = shared_from_this()](const boost::system::error_code& ec) { self->OnHandshake(ec); });
}

void Session::OnHandshake(const boost::system::error_code& ec) {
  if (step_ == Step::kClosed) return;
  if (!ec) {
    parts_->tls->Count(TlsStore::Handshake::kGood);
    step_ = Step::kHead;
    return Pump();
  }
  parts_->tls->CountFailed(transport_.tls());
  if (transport_.tls().failure() == TlsSession::Failure::kPlainHttp) {
    boost::system::error_code ignored;
    transport_.socket().write_some(asio::buffer(kSpeaksTls), ignored);
  }
  Close();
}

void Session::FollowParts() {
  if (parts_ == host_.parts || step_ != Step::kHead || parser_) return;
  parts_ = host_.parts;
  peer_.is_trusted = parts_->Trusts(peer_.address);
}

void Session::Drain() {
  if (step_ != Step::kHead || head_begun_ || in_.size() != begin_) return;
  // What has arrived and was not read yet is a request that wants its answer.
  boost::system::error_code ignored;
  if (parts_->admission.draining() || transport_.socket().available(ignored) == 0) GracefulClose();
}

void Session::EndHalfRequest() {
  if (step_ == Step::kBody || step_ == Step::kChunks) {
    if (Refuse({core::ErrorCode::kShuttingDown, "The service is shutting down."})) Pump();
  } else if (step_ == Step::kHead || step_ == Step::kHandshake) {
    GracefulClose();
  }
}

void Session::Close() {
  if (step_ == Step::kClosed) return;
  step_ = Step::kClosed;
  host_.deadlines.Set(*this, Wait::kNone);
  host_.sessions.erase(this);
  host_.connections.fetch_sub(1, std::memory_order_release);
  parts_->admission.Disconnected();
  transport_.Close();
  inflater_.reset();
  permit_.Free();
  unsent_permit_.Free();
  in_permit_.Free();
  peer_.place.Free();
}

void Session::GracefulClose() {
  if (transport_.is_open()) transport_.ShutdownSend();
  Close();
}

void Session::Linger() {
  step_ = Step::kLinger;
  transport_.ShutdownSend();
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
      case Step::kHandshake:
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
  transport_.async_read_some(
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
    if (drained_ > parts_->config.limits.drain_bytes) return Close();
    return Read(into);
  }
  into.Grow(bytes);
  Pump();
}

// RFC 9112 2.2: some empty lines before a request are skipped. More than that are no request.
bool Session::SkipEmptyLines() {
  while (in_.view().substr(begin_).starts_with("\r\n") && empty_lines_ < kMaxEmptyLines) {
    begin_ += 2;
    scanned_ = 0;
    ++empty_lines_;
  }
  return in_.view().substr(begin_) != "\r";
}

bool Session::TakeHead() {
  if (!SkipEmptyLines()) return WaitForHead(1);
  const std::string_view bytes = in_.view().substr(begin_);
  const std::size_t size = bytes.empty() ? 0 : FindEndOfHead(bytes, scanned_);
  const core::LimitOptions& limits = parts_->config.limits;
  if (!bytes.empty() && !head_begun_) begun_ = std::chrono::steady_clock::now();
  if (size == 0) {
    if (const auto defect = FindEarlyDefect(bytes, scanned_, limits)) return RefuseHead(*defect);
  }
  if (size > limits.max_header_bytes || (size == 0 && bytes.size() >= limits.max_header_bytes)) {
    return RefuseHead({431, "The head of the request is larger than " +
                                std::to_string(limits.max_header_bytes) +
                                " bytes (limits.max_header_bytes)."});
  }
  if (size == 0) return WaitForHead(bytes.size());
  parser_.emplace(head_, *this, bytes.substr(0, size), limits);
  boost::system::error_code ec;
  parser_->put(asio::const_buffer(bytes.data(), size), ec);
  begin_ += size;
  scanned_ = 0;
  if (ec) return RefuseHead(parser_->Refusal(ec));
  connection_ = !parser_->keep_alive() ? Connection::kClose
                : head_.is_http_1_0()  ? Connection::kKeepAliveHttp10
                                       : Connection::kKeepAlive;
  return AnswerRoute();
}

// Where a request ends is not known after this: the connection ends too.
bool Session::RefuseHead(const HeadRefusal& refusal) {
  if (!parser_) head_.Clear();
  linger_ = true;
  connection_ = Connection::kClose;
  AnswerProblem(refusal.status, refusal.status == 431 ? "header_too_large" : "bad_request",
                refusal.detail);
  return true;
}

// Reads more of a head. The deadline runs from its first byte, however slowly the others come.
bool Session::WaitForHead(std::size_t got) {
  if (got == 0 && parts_->admission.draining()) {
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
  Permit permit = parts_->admission.Reserve(capacity);
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
  empty_lines_ = 0;
  head_.Clear();  // its views end with the buffer's bytes
  body_error_.reset();
  scanned_ = 0;
  step_ = Step::kHead;
  FollowParts();
}

void Session::OnDeadline(Wait what) {
  const auto self = shared_from_this();
  switch (what) {
    case Wait::kHeader:
    case Wait::kBody:
      if (step_ == Step::kHandshake) return Close();
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
