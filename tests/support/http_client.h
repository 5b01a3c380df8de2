#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sluice::test {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended before a whole answer
  std::string reason;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// A blocking client that sends exactly the bytes it is given, to 127.0.0.1. Everything has a
// time-out of ten seconds.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // False if the peer has closed.
  bool Send(std::string_view bytes);
  void EndSending();

  // The next answer of the connection; of a HEAD request without its body.
  HttpAnswer Receive(std::string_view method = "GET");
  // Whether the peer ends the connection, with nothing more before.
  bool IsClosed();
  // Whatever has come until the peer's end.
  std::string ReceiveAll();

  int fd() const { return fd_; }

 private:
  bool ReadMore();
  int fd_ = -1;
  std::string buffer_;
};

// "POST <target> HTTP/1.1" with a JSON content type, Content-Length, `headers` (lines with CRLF)
// and the body.
std::string Post(std::string_view body, std::string_view target = "/v1/events",
                 std::string_view headers = {});

}  // namespace sluice::test
