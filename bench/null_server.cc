// The peer of `bench/run http`: an ordinary Beast server that reads a request's whole body and
// answers a constant 201. Shows what the HTTP work alone costs on this machine with this library,
// used as its examples use it.
//
//   null_server [--port N] [--threads N]    prints "null_server ready HOST:PORT" on stderr

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(tcp::socket socket) : stream_(std::move(socket)) {}

  void Read() {
    request_ = {};
    stream_.expires_after(std::chrono::seconds(30));
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](const beast::error_code& ec, std::size_t) {
                       if (!ec) self->Answer();
                     });
  }

 private:
  void Answer() {
    response_ = {};
    response_.version(request_.version());
    response_.result(http::status::created);
    response_.keep_alive(request_.keep_alive());
    response_.content_length(0);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](const beast::error_code& ec, std::size_t) {
                        if (!ec && self->response_.keep_alive()) self->Read();
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::empty_body> response_;
};

// One event loop with its own accepting socket, as the daemon has.
struct Loop {
  asio::io_context io{1};
  tcp::acceptor acceptor{io};

  tcp::endpoint Listen(const tcp::endpoint& where) {
    acceptor.open(where.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.set_option(reuse_port(true));
    acceptor.bind(where);
    acceptor.listen();
    return acceptor.local_endpoint();
  }
  void Accept() {
    acceptor.async_accept([this](const boost::system::error_code& ec, tcp::socket socket) {
      if (ec) return;
      socket.set_option(tcp::no_delay(true));
      std::make_shared<Connection>(std::move(socket))->Read();
      Accept();
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  int port = 0;
  int threads = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--port") port = std::atoi(argv[i + 1]);
    if (option == "--threads") threads = std::max(1, std::atoi(argv[i + 1]));
  }
  std::vector<std::unique_ptr<Loop>> loops;
  tcp::endpoint where(asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port));
  for (int i = 0; i < threads; ++i) {
    loops.push_back(std::make_unique<Loop>());
    where = loops.back()->Listen(where);
    loops.back()->Accept();
  }
  std::cerr << "null_server ready 127.0.0.1:" << where.port() << std::endl;
  std::vector<std::thread> running;
  for (auto& loop : loops) running.emplace_back([&loop] { loop->io.run(); });
  for (auto& thread : running) thread.join();
}
