// Sends POSTs at a fixed rate and measures each from the moment it was due, so that a server that
// stalls cannot hide it.
//
// fixed_rate HOST PORT BODY_FILE RATE SECONDS CONNECTIONS
// Prints one JSON object: requests, errors (answers other than 2xx), p50, p99, p999 and max in
// microseconds.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Connection {
  int fd = -1;
  Clock::time_point due;
  std::string answer;
};

int Connect(const char* host, int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, host, &address.sin_addr);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect");
    std::exit(1);
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

// Whether a whole answer has come: headers, and as many bytes as they say.
bool Complete(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  std::string head = answer.substr(0, end);
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const std::size_t at = head.find("content-length:");
  const std::size_t length =
      at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + 15, nullptr, 10);
  return answer.size() >= end + 4 + length;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: fixed_rate HOST PORT BODY_FILE RATE SECONDS CONNECTIONS\n");
    return 2;
  }
  std::ifstream file(argv[3], std::ios::binary);
  const std::string body((std::istreambuf_iterator<char>(file)), {});
  const std::string request =
      "POST /v1/events HTTP/1.1\r\nHost: bench\r\nContent-Type: "
      "application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  const double rate = std::atof(argv[4]);
  const auto total = static_cast<std::size_t>(rate * std::atof(argv[5]));
  std::vector<Connection> connections(static_cast<std::size_t>(std::atoi(argv[6])));
  const int poll = epoll_create1(0);
  std::vector<Connection*> idle;
  for (Connection& c : connections) {
    c.fd = Connect(argv[1], std::atoi(argv[2]));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &c;
    epoll_ctl(poll, EPOLL_CTL_ADD, c.fd, &event);
    idle.push_back(&c);
  }
  std::vector<double> latencies;
  latencies.reserve(total);
  std::size_t errors = 0;
  std::size_t sent = 0;
  std::deque<Clock::time_point> overdue;
  const auto start = Clock::now();
  const auto due_of = [&](std::size_t i) {
    return start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(static_cast<double>(i) / rate));
  };
  std::vector<char> buffer(65536);
  while (latencies.size() < total) {
    const auto now = Clock::now();
    while (sent < total && due_of(sent) <= now) overdue.push_back(due_of(sent++));
    while (!overdue.empty() && !idle.empty()) {
      Connection* c = idle.back();
      idle.pop_back();
      c->due = overdue.front();
      overdue.pop_front();
      if (write(c->fd, request.data(), request.size()) != static_cast<ssize_t>(request.size()))
        ++errors;
    }
    epoll_event events[64];
    const int count =
        epoll_wait(poll, events, 64, 0);  // spins: the generator has a core of its own
    for (int i = 0; i < count; ++i) {
      auto* c = static_cast<Connection*>(events[i].data.ptr);
      const ssize_t n = read(c->fd, buffer.data(), buffer.size());
      if (n <= 0) {
        std::fprintf(stderr, "the server closed a connection\n");
        return 1;
      }
      c->answer.append(buffer.data(), static_cast<std::size_t>(n));
      if (!Complete(c->answer)) continue;
      if (c->answer.compare(9, 1, "2") != 0) ++errors;
      c->answer.clear();
      latencies.push_back(std::chrono::duration<double, std::micro>(Clock::now() - c->due).count());
      idle.push_back(c);
    }
  }
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](double q) {
    return latencies[static_cast<std::size_t>(q * static_cast<double>(latencies.size() - 1))];
  };
  std::printf(
      "{\"requests\":%zu,\"errors\":%zu,\"p50\":%.0f,\"p99\":%.0f,\"p999\":%.0f,\"max\":%.0f}\n",
      latencies.size(), errors, at(0.5), at(0.99), at(0.999), latencies.back());
  return 0;
}
