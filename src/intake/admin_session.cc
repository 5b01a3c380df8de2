#include "intake/admin_session.h"
#include "intake/http_reply.h"

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>
#include <exception>
#include <utility>

#include "core/log.h"
#include "intake/text.h"

namespace sluice::intake {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::chrono::seconds kHandshakeTimeout{10};
constexpr std::chrono::seconds kIdleTimeout{75};  // above the usual interval of scrapes
constexpr std::chrono::seconds kBodyTimeout{30};
constexpr std::chrono::seconds kWriteTimeout{30};
constexpr std::chrono::seconds kDrainTimeout{2};
constexpr std::size_t kMaxDrainedBytes = 1u << 20;
constexpr std::uint32_t kMaxHeadBytes = 16384;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

AdminReply Busy(std::string_view detail) {
  AdminReply reply = ProblemReply(503, detail);
  reply.headers.emplace_back("retry-after", "1");
  return reply;
}

std::string_view PathOf(beast::string_view target) {
  std::string_view rest(target.data(), target.size());
  return TakeUntil(rest, '?');
}

template <class Response>
void FillHead(Response& response, const AdminReply& reply) {
  response.result(static_cast<unsigned>(reply.status));
  response.reason(beast::string_view(ReasonPhrase(reply.status)));
  if (!reply.content_type.empty()) response.set(http::field::content_type, reply.content_type);
  response.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : reply.headers) response.set(name, value);
}

std::string ChunkOf(std::string_view bytes) {
  std::array<char, 18> size{};
  std::snprintf(size.data(), size.size(), "%zx", bytes.size());
  std::string chunk(size.data());
  chunk += "\r\n";
  chunk += bytes;
  return chunk += "\r\n";
}

// Handlers are other parts of the daemon: what they throw ends one request, not the process.
void Run(const AdminHandler& handler, AdminRequest request, const AdminAnswer& answer) {
  try {
    handler(std::move(request), answer);
  } catch (const std::exception& error) {
    core::Log(core::LogLevel::kError, "admin_handler_failed", error.what());
    answer(ProblemReply(500, "The handler of this path failed; the log says how."));
  }
}

}  // namespace

AdminSession::AdminSession(Transport transport, std::string peer, std::shared_ptr<AdminCore> core,
                           Serves serves)
    : weak_core_(core),
      core_(*core),
      serves_(serves),
      stream_(std::move(transport)),
      clock_(core->io),
      peer_(std::move(peer)) {
  ++core_.connections;
}

AdminSession::~AdminSession() {
  EndWaiting();
  EndStream();
  --core_.connections;
}

void AdminSession::Start() {
  if (!stream_.is_tls()) return ReadHead();
  BeginWaiting();
  CloseAfter(kHandshakeTimeout);
  stream_.async_handshake(
      [self = shared_from_this()](const error_code& ec) { self->OnHandshake(ec); });
}

void AdminSession::OnHandshake(const error_code& ec) {
  if (!stream_.is_open()) return;
  if (!ec) {
    core_.tls->Count(TlsStore::Handshake::kGood);
    return ReadHead();
  }
  core_.tls->CountFailed(stream_.tls());
  Close();
}

void AdminSession::CloseAfter(std::chrono::steady_clock::duration time) {
  clock_.expires_after(time);
  clock_.async_wait([weak = weak_from_this()](const error_code& ec) {
    if (ec) return;
    const auto self = weak.lock();
    // Set anew while this was on its way: not yet.
    if (self && self->clock_.expiry() <= std::chrono::steady_clock::now()) self->Close();
  });
}

void AdminSession::Close() {
  StopClock();
  stream_.Close();
}

void AdminSession::BeginWaiting() {
  EndWaiting();
  waiting_ = core_.waiting.insert(core_.waiting.end(), this);
}

void AdminSession::EndWaiting() {
  if (waiting_) core_.waiting.erase(*waiting_);
  waiting_.reset();
}

void AdminSession::Evict() {
  EndWaiting();
  Close();
}

void AdminSession::ReadHead() {
  BeginWaiting();
  parser_.emplace();
  parser_->header_limit(kMaxHeadBytes);
  parser_->body_limit(boost::none);  // the route's, once it is known
  CloseAfter(kIdleTimeout);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](const error_code& ec, std::size_t) { self->OnHead(ec); });
}

void AdminSession::OnHead(const error_code& ec) {
  if (ec) {
    const bool malformed =
        ec.category() == http::make_error_code(http::error::bad_target).category();
    if (!malformed || ec == http::error::end_of_stream || ec == http::error::partial_message)
      return;
    keep_alive_ = head_only_ = false;
    return Write(ProblemReply(400, "Not an HTTP request: " + ec.message() + "."));
  }
  const auto& head = parser_->get();
  head_only_ = head.method() == http::verb::head;
  version_ = head.version();
  keep_alive_ = head.keep_alive() && serves_ == Serves::kAll;
  const beast::string_view method = head.method_string();
  found_ = core_.router.Find({method.data(), method.size()}, PathOf(head.target()));
  AdminReply refusal;
  if (!found_.route && found_.allow.empty()) {
    refusal.status = 404;
    refusal.content_type = "text/plain; charset=utf-8";
    refusal.body = "Here are " + core_.router.List() + ".\n";
  } else if (!found_.route) {
    refusal = ProblemReply(405, "This path takes " + found_.allow + ".");
    refusal.headers.emplace_back("allow", found_.allow);
  } else if (serves_ == Serves::kHealthOnly && found_.route->runs != AdminRoute::Runs::kIo) {
    refusal = Busy("Too many connections to the admin listener (admin.max_connections).");
  } else if (const auto length = parser_->content_length();
             length && *length > found_.route->max_body_bytes) {
    refusal = ProblemReply(
        413, "The body may have " + std::to_string(found_.route->max_body_bytes) + " bytes.");
  } else {
    return ReadBody();
  }
  keep_alive_ = keep_alive_ && parser_->is_done();  // else a body follows that nobody reads
  Write(std::move(refusal));
}

void AdminSession::ReadBody() {
  if (parser_->is_done()) return OnBody({});
  parser_->body_limit(found_.route->max_body_bytes);
  CloseAfter(kBodyTimeout);
  const auto read = [self = shared_from_this()] {
    http::async_read(self->stream_, self->buffer_, *self->parser_,
                     [self](const error_code& ec, std::size_t) { self->OnBody(ec); });
  };
  const beast::string_view expect = parser_->get()[http::field::expect];
  if (!EqualsIgnoringCase({expect.data(), expect.size()}, "100-continue")) return read();
  asio::async_write(stream_, asio::buffer(kContinue), [read](const error_code& ec, std::size_t) {
    if (!ec) read();
  });
}

void AdminSession::OnBody(const error_code& ec) {
  if (ec == http::error::body_limit) {
    keep_alive_ = false;
    return Write(ProblemReply(
        413, "The body may have " + std::to_string(found_.route->max_body_bytes) + " bytes."));
  }
  if (ec) return;
  EndWaiting();
  Dispatch();
}

AdminRequest AdminSession::TakeRequest() {
  auto message = parser_->release();
  AdminRequest request;
  request.method = found_.method;
  std::string_view target(message.target().data(), message.target().size());
  request.path = TakeUntil(target, '?');
  request.query = target;
  request.rest = std::move(found_.rest);
  for (const auto& field : message) {
    std::string name(field.name_string());
    for (char& c : name) c = ToLower(c);
    request.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  request.body = std::move(message.body());
  request.peer = peer_;
  return request;
}

void AdminSession::Dispatch() {
  StopClock();
  core_.busy.emplace(this, shared_from_this());
  AdminAnswer answer([session = weak_from_this(), weak = weak_core_](AdminReply reply) {
    const std::shared_ptr<AdminCore> core = weak.lock();
    if (!core) return;  // the server has gone, and the connection with it
    asio::post(core->io, [session, reply = std::move(reply)]() mutable {
      if (const auto self = session.lock()) self->OnReply(std::move(reply));
    });
  });
  if (found_.route->runs == AdminRoute::Runs::kIo) {
    return Run(found_.route->handler, TakeRequest(), answer);
  }
  if (core_.queued.load(std::memory_order_relaxed) >= AdminCore::kMaxQueued) {
    return answer(Busy("Too many requests wait for a worker of the admin listener."));
  }
  core_.queued.fetch_add(1, std::memory_order_relaxed);
  // The workers end before the core does.
  asio::post(*core_.workers, [&core = core_, handler = &found_.route->handler,
                              request = TakeRequest(), answer = std::move(answer)]() mutable {
    core.queued.fetch_sub(1, std::memory_order_relaxed);
    Run(*handler, std::move(request), answer);
  });
}

void AdminSession::OnReply(AdminReply reply) {
  const auto self = shared_from_this();
  core_.busy.erase(this);
  if (!reply.stream) return Write(std::move(reply));
  if (core_.streams >= AdminCore::kMaxStreams) {
    reply.stream->Abandon();
    return Write(Busy("Too many streams of the admin listener are open."));
  }
  StartStream(std::move(reply));
}

void AdminSession::Write(AdminReply reply) {
  BeginWaiting();
  response_ = {};
  FillHead(response_, reply);
  response_.version(version_);
  response_.keep_alive(keep_alive_);
  if (reply.status != 204 && reply.status != 304) response_.content_length(reply.body.size());
  if (!head_only_) response_.body() = std::move(reply.body);
  CloseAfter(kWriteTimeout);
  http::async_write(
      stream_, response_,
      [self = shared_from_this()](const error_code& ec, std::size_t) { self->OnWritten(ec); });
}

void AdminSession::OnWritten(const error_code& ec) {
  if (ec) return;
  if (keep_alive_) return ReadHead();
  stream_.ShutdownSend();
  CloseAfter(kDrainTimeout);
  DrainAndClose();
}

// A peer that still sends its body would be reset by a close, and might never see the answer.
void AdminSession::DrainAndClose() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(65536),
                          [self = shared_from_this()](const error_code& ec, std::size_t size) {
                            self->drained_ += size;
                            if (!ec && self->drained_ < kMaxDrainedBytes) self->DrainAndClose();
                          });
}

void AdminSession::StartStream(AdminReply reply) {
  source_ = std::move(reply.stream);
  ++core_.streams;
  FillHead(stream_head_, reply);
  stream_head_.version(version_);
  stream_head_.keep_alive(false);
  if (version_ >= 11) stream_head_.chunked(true);
  stream_serializer_.emplace(stream_head_);
  CloseAfter(kWriteTimeout);
  http::async_write_header(
      stream_, *stream_serializer_, [self = shared_from_this()](const error_code& ec, std::size_t) {
        if (ec || self->head_only_) return;
        self->StopClock();
        self->WatchPeer();
        self->source_->Attach([session = self->weak_from_this(), weak = self->weak_core_] {
          const std::shared_ptr<AdminCore> core = weak.lock();
          if (!core) return;
          asio::post(core->io, [session] {
            if (const auto woken = session.lock()) woken->SendChunks();
          });
        });
      });
}

// What a peer sends while it is sent to means nothing, but its end does.
void AdminSession::WatchPeer() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(512),
                          [self = shared_from_this()](const error_code& ec, std::size_t) {
                            if (!ec) return self->WatchPeer();
                            self->EndStream();
                            self->Close();
                          });
}

void AdminSession::SendChunks() {
  if (sending_ || !source_) return;
  taken_ = source_->Take();
  if (taken_.bytes.empty() && !taken_.last) return;
  sending_ = true;
  CloseAfter(kWriteTimeout);  // of the write alone: the read is under way
  const auto sent = [self = shared_from_this()](const error_code& ec, std::size_t) {
    self->sending_ = false;
    self->StopClock();
    if (ec || self->taken_.last) {
      self->EndStream();
      return self->Close();
    }
    self->SendChunks();
  };
  const bool chunked = stream_head_.chunked();
  if (!chunked) return asio::async_write(stream_, asio::buffer(taken_.bytes), sent);
  if (!taken_.bytes.empty()) taken_.bytes = ChunkOf(taken_.bytes);
  if (taken_.last) taken_.bytes += "0\r\n\r\n";
  asio::async_write(stream_, asio::buffer(taken_.bytes), sent);
}

void AdminSession::EndStream() {
  if (!source_) return;
  source_->Abandon();
  source_.reset();
  --core_.streams;
}

}  // namespace sluice::intake
