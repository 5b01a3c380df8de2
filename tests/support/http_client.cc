#include "support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>

namespace sluice::test {

HttpClient::HttpClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const timeval timeout{10, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

HttpClient::~HttpClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool HttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void HttpClient::EndSending() { ::shutdown(fd_, SHUT_WR); }

bool HttpClient::ReadMore() {
  char piece[65536];
  const ssize_t got = ::recv(fd_, piece, sizeof(piece), 0);
  if (got <= 0) return false;
  buffer_.append(piece, static_cast<std::size_t>(got));
  return true;
}

HttpAnswer HttpClient::Receive(std::string_view method) {
  HttpAnswer answer;
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!ReadMore()) return answer;
  }
  const std::string head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  const std::size_t line_end = head.find("\r\n");
  const int status = std::atoi(head.c_str() + 9);
  answer.reason = line_end > 13 ? head.substr(13, line_end - 13) : "";
  for (std::size_t at = line_end + 2; at < head.size();) {
    const std::size_t next = head.find("\r\n", at);
    const std::size_t colon = head.find(':', at);
    std::string name = head.substr(at, colon - at);
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    answer.headers[name] = head.substr(colon + 2, next - colon - 2);
    at = next + 2;
  }
  const std::size_t length =
      status == 100 || method == "HEAD"
          ? 0
          : std::strtoull(answer.headers["content-length"].c_str(), nullptr, 10);
  while (buffer_.size() < length) {
    if (!ReadMore()) return {};
  }
  answer.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  answer.status = status;
  return answer;
}

bool HttpClient::IsClosed() { return buffer_.empty() && !ReadMore(); }

std::string HttpClient::ReceiveAll() {
  while (ReadMore()) {
  }
  return buffer_;
}

std::string Post(std::string_view body, std::string_view target, std::string_view headers) {
  std::string out = "POST ";
  out.append(target).append(" HTTP/1.1\r\nHost: localhost\r\n");
  if (headers.find("ontent-") == std::string_view::npos ||
      headers.find("ype:") == std::string_view::npos) {
    out += "Content-Type: application/json\r\n";
  }
  out.append(headers)
      .append("Content-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\n\r\n");
  return out.append(body);
}

}  // namespace sluice::test
