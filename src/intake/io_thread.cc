#include "intake/io_thread.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <vector>

#include "core/log.h"
#include "intake/listen_error.h"
#include "intake/session.h"

namespace sluice::intake {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

constexpr std::chrono::milliseconds kTick{100};
// How long a request that is half here may take to come whole once the server drains.
constexpr std::chrono::seconds kDrainGrace{2};
// After an accept failed for want of descriptors: trying at once would spin.
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr int kBacklog = 4096;
// A peer that vanished without a word is noticed by unacknowledged data, or by keep-alive probes.
constexpr unsigned kUserTimeoutMs = 30000;

constexpr std::string_view kTooManyConnections =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\ncontent-length: "
    "0\r\n\r\n";

constexpr std::string_view kTooManyOfAddress =
    "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nConnection: close\r\ncontent-length: "
    "0\r\n\r\n";

template <class AnySocket>
void SetOptions(AnySocket& socket) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.non_blocking(true, ignored);
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs,
               sizeof(kUserTimeoutMs));
}

void Refuse(Socket& socket, const TlsContextPtr& tls, std::string_view answer) {
  if (tls) return;  // it could not read it
  boost::system::error_code ignored;
  socket.write_some(asio::buffer(answer), ignored);
  socket.shutdown(asio::socket_base::shutdown_send, ignored);
}

std::string AddressText(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

}  // namespace

IoThread::IoThread(ServerPartsPtr parts, const IngestHandlerFactory& make_handler)
    : work_(io_.get_executor()), host_(std::move(parts)) {
  mailbox_->io = &io_;
  host_.handler = make_handler([mailbox = mailbox_](std::function<void()> task) {
    const std::lock_guard lock(mailbox->mutex);
    if (mailbox->io != nullptr) asio::post(*mailbox->io, std::move(task));
  });
}

IoThread::~IoThread() { Stop(); }

core::Result<tcp::endpoint> IoThread::Listen(const tcp::endpoint& where) {
  auto door = std::make_unique<Door>(io_);
  tcp::acceptor& acceptor = door->acceptor;
  boost::system::error_code ec;
  acceptor.open(where.protocol(), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) acceptor.set_option(reuse_port(true), ec);
  if (!ec) acceptor.bind(where, ec);
  if (!ec) acceptor.listen(kBacklog, ec);
  tcp::endpoint bound;
  if (!ec) bound = acceptor.local_endpoint(ec);
  if (ec) return core::Error{core::ErrorCode::kInternal, ec.message()};
  doors_.push_back(std::move(door));
  return bound;
}

core::Result<tcp::endpoint> IoThread::Share(int descriptor) {
  auto door = std::make_unique<Door>(io_);
  boost::system::error_code ec;
  const auto bound = AdoptListening(descriptor, door->acceptor, ec);
  if (ec) return core::Error{core::ErrorCode::kInternal, ec.message()};
  doors_.push_back(std::move(door));
  return bound;
}

void IoThread::ListenUnix(int socket) {
  unix_acceptor_ = std::make_unique<UnixAcceptor>(
      io_, socket, [this](Socket taken) { Take(std::move(taken), {}, nullptr); });
}

void IoThread::Start() {
  for (const auto& door : doors_) Accept(*door);
  if (unix_acceptor_) unix_acceptor_->Start();
  Tick();
  thread_ = std::thread([this] { io_.run(); });
  ::pthread_setname_np(thread_.native_handle(), "sluice-io");
}

void IoThread::Accept(Door& door) {
  door.acceptor.async_accept(io_.get_executor(), door.peer,
                             [this, &door](const boost::system::error_code& ec, TcpSocket socket) {
                               OnAccept(door, ec, std::move(socket));
                             });
}

// A connection that was accepted while the door was being closed is served all the same: its client
// has been told that it is connected.
void IoThread::OnAccept(Door& door, const boost::system::error_code& ec, TcpSocket socket) {
  if (stopping_ || ec == asio::error::operation_aborted) return;
  if (ec) {
    if (!door.acceptor.is_open()) return;
    if (ec == asio::error::connection_aborted) return Accept(door);
    core::Log(core::LogLevel::kError, "accept_failed",
              "A connection could not be accepted: " + ec.message() +
                  " (raise the limit of open files, or lower limits.max_connections).");
    return RetryAccept(door);
  }
  SetOptions(socket);
  Take(std::move(socket), AddressText(door.peer.address()), Tls());
  if (door.acceptor.is_open()) Accept(door);
}

void IoThread::Take(Socket socket, std::string address, const TlsContextPtr& tls) {
  Peer peer;
  peer.address = std::move(address);
  peer.is_trusted = host_.parts->Trusts(peer.address);
  if (host_.parts->rates != nullptr && !peer.is_trusted) {  // a proxy connects for many
    auto place = host_.parts->rates->Connect(AddressKeyOf(peer.address));
    if (!place) return Refuse(socket, tls, kTooManyOfAddress);
    peer.place = std::move(*place);
  }
  if (host_.parts->admission.Connected()) {
    std::make_shared<Session>(host_, Transport(std::move(socket), tls), std::move(peer))->Start();
    return;
  }
  core::Log(core::LogLevel::kWarn, "connection_refused",
            "Too many connections (limits.max_connections is " +
                std::to_string(host_.parts->config.limits.max_connections) + ").");
  Refuse(socket, tls, kTooManyConnections);
}

TlsContextPtr IoThread::Tls() const {
  return host_.parts->tls != nullptr ? host_.parts->tls->Current() : nullptr;
}

void IoThread::RetryAccept(Door& door) {
  door.retry.expires_after(kAcceptPause);
  door.retry.async_wait([this, &door](const boost::system::error_code& ec) {
    if (!ec && !stopping_ && door.acceptor.is_open()) Accept(door);
  });
}

void IoThread::CloseDoors() {
  boost::system::error_code ignored;
  for (const auto& door : doors_) {
    door->acceptor.close(ignored);
    door->retry.cancel();
  }
  if (unix_acceptor_) unix_acceptor_->Close();
}

void IoThread::DrainSessions() {
  const std::vector<Session*> sessions(host_.sessions.begin(), host_.sessions.end());
  for (Session* session : sessions) session->shared_from_this()->Drain();
}

void IoThread::Tick() {
  host_.writer.SetTime(std::chrono::system_clock::now());
  const auto now = std::chrono::steady_clock::now();
  beat_.Beat(now);
  host_.deadlines.Sweep(now);
  host_.handler->Tick(now);
  if (drain_since_ && now - *drain_since_ > kDrainGrace) {
    const std::vector<Session*> sessions(host_.sessions.begin(), host_.sessions.end());
    for (Session* session : sessions) session->shared_from_this()->EndHalfRequest();
  }
  tick_.expires_after(kTick);
  tick_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec && !stopping_) Tick();  // cancel() does not reach a handler that is queued already
  });
}

void IoThread::Use(ServerPartsPtr parts, std::function<void()> done) {
  asio::post(io_, [this, next = std::move(parts), called = std::move(done)]() mutable {
    host_.Use(std::move(next));
    called();
  });
}

void IoThread::StopAccepting() {
  asio::post(io_, [this] { CloseDoors(); });
}

void IoThread::CloseIdle() {
  asio::post(io_, [this] { DrainSessions(); });
}

void IoThread::StartDrain() {
  asio::post(io_, [this] {
    CloseDoors();
    if (!drain_since_) drain_since_ = std::chrono::steady_clock::now();
    DrainSessions();
  });
}

void IoThread::Stop() {
  if (!thread_.joinable()) return;
  asio::post(io_, [this] {
    stopping_ = true;
    CloseDoors();
    tick_.cancel();
    const std::vector<Session*> sessions(host_.sessions.begin(), host_.sessions.end());
    for (Session* session : sessions) session->shared_from_this()->Close();
    work_.reset();  // the loop ends when the last aborted operation has come back
  });
  thread_.join();
  {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->io = nullptr;
  }
  // What was posted between the end of the loop and now holds sessions and their sinks.
  io_.restart();
  io_.poll();
}

}  // namespace sluice::intake
