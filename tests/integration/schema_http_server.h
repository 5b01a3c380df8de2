#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
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
  ~SchemaHttpServer();

  std::string url() const;
  // How many requests there were for `target`.
  int requests(const std::string& target) const;

  // A whole response, with Content-Length and Connection: close.
  static std::string Response(int status, const std::string& body, const std::string& headers = "");

 private:
  void Accept();
  void Serve(boost::asio::ip::tcp::socket socket);

  Answer answer_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> targets_;
  std::vector<std::thread> connections_;
  std::thread accepting_;
};

}  // namespace sluice::registry
