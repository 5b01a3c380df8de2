#include "intake/admin_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <thread>

#include "core/json_text.h"
#include "core/log.h"
#include "intake/listen_error.h"

namespace sluice::intake {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::chrono::seconds kTimeout{30};
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::uint64_t kBodyLimit = 4096;
constexpr int kMaxConnections = 64;

std::string ReadinessDocument(const std::vector<ReadinessCondition>& conditions, bool ready) {
  std::string out = ready ? R"({"ready":true,"conditions":[)" : R"({"ready":false,"conditions":[)";
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
  return out + "]}";
}

// One connection of the admin listener.
class AdminSession : public std::enable_shared_from_this<AdminSession> {
 public:
  AdminSession(tcp::socket socket, const AdminServer::Providers& providers, int& connections)
      : stream_(std::move(socket)), providers_(providers), connections_(connections) {
    ++connections_;
  }
  ~AdminSession() { --connections_; }

  void Read() {
    parser_.emplace();
    parser_->body_limit(kBodyLimit);
    stream_.expires_after(kTimeout);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](const beast::error_code& ec, std::size_t) {
                       if (!ec) self->Answer();
                     });
  }

 private:
  void Answer() {
    const auto& request = parser_->get();
    response_ = {};
    response_.version(request.version());
    response_.keep_alive(request.keep_alive());
    Fill(request.target().substr(0, request.target().find('?')));
    const bool get = request.method() == http::verb::get || request.method() == http::verb::head;
    if (!get) {
      response_.result(http::status::method_not_allowed);
      response_.set(http::field::allow, "GET,HEAD");
      response_.body().clear();
    }
    response_.content_length(response_.body().size());
    if (request.method() == http::verb::head) response_.body().clear();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](const beast::error_code& ec, std::size_t) {
                        if (ec) return;
                        if (self->response_.keep_alive()) return self->Read();
                        beast::error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  void Fill(beast::string_view path) {
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    if (path == "/metrics") {
      response_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
      response_.body() = providers_.metrics();
    } else if (path == "/healthz") {
      response_.body() = "ok\n";
    } else if (path == "/readyz") {
      const std::vector<ReadinessCondition> conditions = providers_.readiness();
      bool ready = true;
      for (const ReadinessCondition& condition : conditions) ready = ready && condition.ok;
      if (!ready) response_.result(http::status::service_unavailable);
      response_.set(http::field::content_type, "application/json; charset=utf-8");
      response_.body() = ReadinessDocument(conditions, ready);
    } else {
      response_.result(http::status::not_found);
      response_.body() = "Here are /metrics, /healthz and /readyz.\n";
    }
  }

  beast::tcp_stream stream_;
  const AdminServer::Providers& providers_;
  int& connections_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

struct AdminServer::Impl {
  std::string interface;
  std::uint16_t port;
  Providers providers;
  int connections = 0;  // on the thread
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer retry{io};
  tcp::endpoint bound;
  std::thread thread;

  void Accept() {
    acceptor.async_accept([this](const boost::system::error_code& ec, tcp::socket socket) {
      if (!acceptor.is_open()) return;
      if (ec) {
        core::Log(core::LogLevel::kError, "admin_accept_failed", ec.message());
        retry.expires_after(kAcceptPause);
        retry.async_wait([this](const boost::system::error_code& cancelled) {
          if (!cancelled) Accept();
        });
        return;
      }
      if (connections < kMaxConnections) {
        std::make_shared<AdminSession>(std::move(socket), providers, connections)->Read();
      }
      Accept();
    });
  }
};

AdminServer::AdminServer(std::string interface, std::uint16_t port, Providers providers)
    : impl_(std::make_unique<Impl>()) {
  impl_->interface = std::move(interface);
  impl_->port = port;
  impl_->providers = std::move(providers);
}

AdminServer::~AdminServer() { Stop(); }

core::Result<void> AdminServer::Start() {
  boost::system::error_code ec;
  const tcp::endpoint where(asio::ip::make_address(impl_->interface, ec), impl_->port);
  if (!ec) impl_->acceptor.open(where.protocol(), ec);
  if (!ec) impl_->acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) impl_->acceptor.bind(where, ec);
  if (!ec) impl_->acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (!ec) impl_->bound = impl_->acceptor.local_endpoint(ec);
  if (ec) return ListenError("admin.interface", "admin.port", impl_->interface, impl_->port, ec);
  impl_->Accept();
  impl_->thread = std::thread([impl = impl_.get()] { impl->io.run(); });
  return {};
}

void AdminServer::Stop() {
  if (!impl_->thread.joinable()) return;
  impl_->io.stop();
  impl_->thread.join();
}

std::uint16_t AdminServer::port() const { return impl_->bound.port(); }

std::string AdminServer::address() const { return AddressAndPort(impl_->interface, port()); }

}  // namespace sluice::intake
