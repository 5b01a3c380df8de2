#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::registry {

// A web server for tests: answers each request with the bytes that `answer` makes of its target and
// its whole head. One thread per connection, so that an answer may wait.
class SchemaHttpServer {
 public:
  using Answer = std::function<std::string(const std::string& target, const std::string& head)>;

  explicit SchemaHttpServer(Answer answer);
  // Waits for answers, not for requests: a client that sends nothing is cut off.
  ~SchemaHttpServer();

  boost::asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
  std::string url() const;
  // How many requests there were for `target`.
  int requests(const std::string& target) const;

  // A whole response, with Content-Length and Connection: close.
  static std::string Response(int status, const std::string& body, const std::string& headers = "");

 private:
  void Accept();
  void Serve(boost::asio::ip::tcp::socket& socket);

  Answer answer_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> targets_;
  // Each is served by its thread, and kept until that has ended.
  std::list<boost::asio::ip::tcp::socket> sockets_;
  std::vector<std::thread> connections_;
  std::thread accepting_;
};

}  // namespace sluice::registry
