#include "intake/admin_server.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>

#include "core/heartbeat.h"
#include "core/json_text.h"
#include "core/log.h"
#include "intake/admin_core.h"
#include "intake/admin_session.h"
#include "intake/listen_error.h"
#include "intake/unix_listener.h"

namespace sluice::intake {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::milliseconds kBeat{500};
constexpr std::size_t kWorkers = 4;
constexpr std::size_t kReserved = 32;  // connections beyond the bound, for health alone
constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n"
    "connection: close\r\n\r\n";

AdminReply Readiness(const std::vector<ReadinessCondition>& conditions) {
  const bool ready = std::all_of(conditions.begin(), conditions.end(),
                                 [](const ReadinessCondition& each) { return each.ok; });
  AdminReply reply;
  reply.status = ready ? 200 : 503;
  std::string& out = reply.body;
  out = ready ? R"({"ready":true,"conditions":[)" : R"({"ready":false,"conditions":[)";
  bool first = true;
  for (const ReadinessCondition& condition : conditions) {
    out += first ? "{\"name\":" : ",{\"name\":";
    first = false;
    core::AppendJsonString(out, condition.name);
    out += condition.ok ? ",\"ok\":true" : ",\"ok\":false";
    if (!condition.detail.empty()) {
      out += ",\"detail\":";
      core::AppendJsonString(out, condition.detail);
    }
    out += '}';
  }
  out += "]}";
  return reply;
}

AdminRoute HealthRoute(std::string path, std::function<AdminReply()> reply) {
  AdminRoute route;
  route.methods = {AdminMethod::kGet};
  route.path = std::move(path);
  route.runs = AdminRoute::Runs::kIo;
  route.handler = Answering([reply = std::move(reply)](const AdminRequest&) { return reply(); });
  return route;
}

}  // namespace

struct AdminServer::Impl {
  AdminServerOptions options;
  // Shared only so that answers and streams can tell whether it is still there.
  std::shared_ptr<AdminCore> core = std::make_shared<AdminCore>();
  tcp::acceptor acceptor{core->io};
  asio::steady_timer retry{core->io};
  asio::steady_timer next_beat{core->io};
  core::Heartbeat beat;
  tcp::endpoint bound;
  UnixListener unix_listener;
  std::unique_ptr<UnixAcceptor> unix_acceptor;
  std::thread thread;

  using TcpSocket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;

  TlsContextPtr Tls() const { return options.tls != nullptr ? options.tls->Current() : nullptr; }

  void Accept() {
    acceptor.async_accept(
        core->io.get_executor(), [this](const boost::system::error_code& ec, TcpSocket socket) {
          if (!acceptor.is_open()) return;
          if (ec) {
            core::Log(core::LogLevel::kError, "admin_accept_failed", ec.message());
            retry.expires_after(kAcceptPause);
            retry.async_wait([this](const boost::system::error_code& cancelled) {
              if (!cancelled) Accept();
            });
            return;
          }
          boost::system::error_code ignored;
          socket.set_option(tcp::no_delay(true), ignored);
          // A peer of a stream may say nothing for days; one that vanished has to be found out.
          socket.set_option(asio::socket_base::keep_alive(true), ignored);
          const tcp::endpoint peer = socket.remote_endpoint(ignored);
          Take(std::move(socket), peer.address().to_string(), Tls());
          Accept();
        });
  }

  void Bind(std::optional<int> inherited, boost::system::error_code& ec);

  void Beat() {
    beat.Beat();
    next_beat.expires_after(kBeat);
    next_beat.async_wait([this](const boost::system::error_code& ec) {
      if (!ec) Beat();
    });
  }

  void Take(Socket socket, std::string peer, const TlsContextPtr& tls) {
    if (core->connections >= core->max_connections + kReserved) {
      if (core->waiting.empty()) {
        boost::system::error_code ignored;
        socket.non_blocking(true, ignored);
        if (!tls) socket.write_some(asio::buffer(kFull), ignored);
        return;
      }
      core->waiting.front()->Evict();
    }
    const bool last_few = core->connections >= core->max_connections;
    std::make_shared<AdminSession>(
        Transport(std::move(socket), tls), std::move(peer), core,
        last_few ? AdminSession::Serves::kHealthOnly : AdminSession::Serves::kAll)
        ->Start();
  }
};

AdminServer::AdminServer(const AdminServerOptions& options, Providers providers)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  impl_->core->tls = options.tls;
  impl_->core->max_connections = static_cast<std::size_t>(options.max_connections);
  AddRoute(HealthRoute("/metrics", [metrics = std::move(providers.metrics)] {
    AdminReply reply;
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    reply.body = metrics();
    return reply;
  }));
  AddRoute(HealthRoute("/healthz", [] {
    AdminReply reply;
    reply.content_type = "text/plain; charset=utf-8";
    reply.body = "ok\n";
    return reply;
  }));
  AddRoute(HealthRoute(
      "/readyz", [readiness = std::move(providers.readiness)] { return Readiness(readiness()); }));
}

AdminServer::~AdminServer() { Stop(); }

void AdminServer::AddRoute(AdminRoute route) { impl_->core->router.Add(std::move(route)); }

void AdminServer::Impl::Bind(std::optional<int> inherited, boost::system::error_code& ec) {
  if (inherited) {
    bound = AdoptListening(*inherited, acceptor, ec);
    ::close(*inherited);
    return;
  }
  const tcp::endpoint where(asio::ip::make_address(options.interface, ec), options.port);
  if (!ec) acceptor.open(where.protocol(), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) acceptor.bind(where, ec);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (!ec) bound = acceptor.local_endpoint(ec);
}

core::Result<void> AdminServer::Start(std::optional<int> inherited) {
  boost::system::error_code ec;
  impl_->Bind(inherited, ec);
  if (ec) {
    return ListenError("admin.interface", "admin.port", impl_->options.interface,
                       impl_->options.port, ec);
  }
  impl_->core->workers = std::make_unique<asio::thread_pool>(kWorkers);
  if (!impl_->options.unix_socket.empty()) {
    auto listener = UnixListener::Open(impl_->options.unix_socket, "admin.unix_socket");
    if (!listener) return listener.error();
    impl_->unix_listener = std::move(*listener);
    impl_->unix_acceptor = std::make_unique<UnixAcceptor>(
        impl_->core->io, impl_->unix_listener.Duplicate(),
        [impl = impl_.get()](Socket taken) { impl->Take(std::move(taken), "unix", nullptr); });
    impl_->unix_acceptor->Start();
  }
  impl_->Accept();
  impl_->Beat();
  impl_->thread = std::thread([core = impl_->core.get()] { core->io.run(); });
  return {};
}

void AdminServer::Stop() {
  if (!impl_->thread.joinable()) return;
  impl_->core->io.stop();
  impl_->thread.join();
  impl_->core->workers->stop();
  impl_->core->workers->join();
  if (impl_->unix_acceptor) impl_->unix_acceptor->Close();
  impl_->unix_listener.Close();
}

std::uint16_t AdminServer::port() const { return impl_->bound.port(); }

std::string AdminServer::address() const {
  return AddressAndPort(impl_->bound.address().to_string(), port());
}

std::chrono::steady_clock::time_point AdminServer::last_beat() const { return impl_->beat.last(); }

}  // namespace sluice::intake
