#include "integration/schema_http_server.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace sluice::registry {
namespace {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

}  // namespace

SchemaHttpServer::SchemaHttpServer(Answer answer)
    : answer_(std::move(answer)),
      acceptor_(io_, tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0)),
      accepting_([this] { Accept(); }) {}

SchemaHttpServer::~SchemaHttpServer() {
  stopping_ = true;
  ErrorCode ignored;
  tcp::socket wake(io_);  // ends the blocking accept
  wake.connect(endpoint(), ignored);
  accepting_.join();
  for (auto& socket : sockets_) socket.shutdown(tcp::socket::shutdown_receive, ignored);
  for (auto& connection : connections_) connection.join();
}

std::string SchemaHttpServer::url() const {
  return "http://127.0.0.1:" + std::to_string(endpoint().port());
}

int SchemaHttpServer::requests(const std::string& target) const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(std::count(targets_.begin(), targets_.end(), target));
}

std::string SchemaHttpServer::Response(int status, const std::string& body,
                                       const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

void SchemaHttpServer::Accept() {
  for (;;) {
    ErrorCode error;
    tcp::socket socket = acceptor_.accept(error);
    if (stopping_) return;
    if (error) continue;
    connections_.emplace_back(
        [this, &accepted = sockets_.emplace_back(std::move(socket))] { Serve(accepted); });
  }
}

void SchemaHttpServer::Serve(tcp::socket& socket) {
  std::string head;
  ErrorCode error;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(head), "\r\n\r\n", error);
  if (error) return;
  const std::size_t from = head.find(' ') + 1;
  const std::string target = head.substr(from, head.find(' ', from) - from);
  {
    std::lock_guard lock(mutex_);
    targets_.push_back(target);
  }
  boost::asio::write(socket, boost::asio::buffer(answer_(target, head)), error);
  socket.shutdown(tcp::socket::shutdown_send, error);
}

}  // namespace sluice::registry
