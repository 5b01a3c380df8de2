#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "http_fixture.h"

// A stop whose successor has the listening sockets, and what tells that a loop is alive.
namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// A listening socket that outlives servers, as a service manager holds it.
class HeldSocket {
 public:
  HeldSocket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(fd_, any, size) == 0);
    REQUIRE(::listen(fd_, 16) == 0);
    REQUIRE(::getsockname(fd_, any, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~HeldSocket() { ::close(fd_); }
  HeldSocket(const HeldSocket&) = delete;
  HeldSocket& operator=(const HeldSocket&) = delete;

  std::uint16_t port() const { return port_; }
  int Duplicate() const { return ::fcntl(fd_, F_DUPFD_CLOEXEC, 3); }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

// A server that accepts from it.
struct OnHeldSocket {
  explicit OnHeldSocket(const HeldSocket& held, int threads = 2) {
    config.http.io_threads = threads;
    const auto started = server.Start({held.Duplicate()});
    REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
    CHECK(server.port() == held.port());
  }
  ~OnHeldSocket() { server.Stop(steady_clock::now() + seconds(5)); }

  // Leaves on a thread of its own; returns once that has begun.
  std::thread Leave() {
    std::thread leaving([this] { server.Leave(steady_clock::now() + seconds(10)); });
    while (!admission.leaving()) std::this_thread::yield();
    return leaving;
  }

  core::Config config;
  RecordingHandler handler;
  core::Metrics metrics{config.metrics, "sluice"};
  intake::AdmissionControl admission{config.limits};
  intake::EventServer server{config, admission, metrics, handler.Factory(), {}};
};

TEST_CASE("Leave: what comes on open connections is answered and ended, what connects waits") {
  const HeldSocket held;
  auto first = std::make_unique<OnHeldSocket>(held);
  std::thread leaving;
  {
    HttpClient idle(held.port());
    REQUIRE(idle.Send(Post("{}x")));
    CHECK(!idle.Receive().headers.contains("connection"));
    HttpClient busy(held.port());
    REQUIRE(busy.Send(Post("later")));
    first->handler.WaitForHeld(1);
    leaving = first->Leave();
    REQUIRE(idle.Send(Post("{}x")));
    HttpAnswer last = idle.Receive();
    CHECK(last.status == 201);
    CHECK(last.headers["connection"] == "close");
    CHECK(idle.IsClosed());
    first->handler.Release();
    CHECK(busy.Receive().status == 201);
    CHECK(busy.IsClosed());
  }
  leaving.join();  // since no connection is left, long before its end
  HttpClient waiting(held.port());
  REQUIRE(waiting.Send(Post("{}x")));
  CHECK(first->server.Stop(steady_clock::now() + seconds(5)));
  first.reset();
  const OnHeldSocket second(held);
  CHECK(waiting.Receive().status == 201);
}

TEST_CASE("Leave: of requests sent in one piece only the last answer ends the connection") {
  const HeldSocket held;
  OnHeldSocket first(held, 1);
  HttpClient client(held.port());
  REQUIRE(client.Send(Post("{}x")));
  CHECK(client.Receive().status == 201);
  std::thread leaving = first.Leave();
  REQUIRE(client.Send(Post("{}x") + Post("{}x") + Post("{}x")));
  CHECK(!client.Receive().headers.contains("connection"));
  CHECK(!client.Receive().headers.contains("connection"));
  HttpAnswer last = client.Receive();
  CHECK(last.status == 201);
  CHECK(last.headers["connection"] == "close");
  CHECK(client.IsClosed());
  client.EndSending();
  leaving.join();
}

TEST_CASE(
    "CloseIdle: a connection without a request ends, a request that is half here is answered") {
  const HeldSocket held;
  OnHeldSocket first(held, 1);
  HttpClient idle(held.port());
  REQUIRE(idle.Send(Post("{}x")));
  CHECK(idle.Receive().status == 201);
  const std::string text = Post("{}x");
  HttpClient half(held.port());
  REQUIRE(half.Send(text.substr(0, 20)));
  HttpClient marker(held.port());  // its answer shows that what was sent before has been read
  REQUIRE(marker.Send(Post("{}x")));
  CHECK(marker.Receive().status == 201);
  first.server.Leave(steady_clock::now() + milliseconds(20));
  first.server.CloseIdle(steady_clock::now() + milliseconds(20));
  CHECK(idle.IsClosed());
  REQUIRE(half.Send(text.substr(20)));
  HttpAnswer answer = half.Receive();
  CHECK(answer.status == 201);
  CHECK(answer.headers["connection"] == "close");
}

TEST_CASE("last_beat: a handler that blocks its loop stops the beat") {
  HttpServer server;
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("block")));
  server.handler.WaitForBlocked();
  const auto before = server.server->last_beat();
  std::this_thread::sleep_for(milliseconds(350));  // the loop would beat three times
  CHECK(server.server->last_beat() == before);
  server.handler.Unblock();
  CHECK(client.Receive().status == 201);
  const auto patience = steady_clock::now() + seconds(10);
  while (server.server->last_beat() == before && steady_clock::now() < patience)
    std::this_thread::yield();
  CHECK(server.server->last_beat() > before);
}

TEST_CASE("Use: another configuration counts from the next request on, on open connections too") {
  HttpServer server([](core::Config& config) { config.http.io_threads = 2; });
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("{}x")));
  CHECK(client.Receive().headers["access-control-allow-origin"] == "*");
  HttpClient busy(server.port());
  REQUIRE(busy.Send(Post("later")));
  server.handler.WaitForHeld(1);
  auto next = std::make_shared<core::Config>(server.config);
  next->http.cors = "https://example.org";
  next->http.max_body_bytes = 2;
  next->http.event_paths = {"/v2/events"};
  auto parts = server.server->Prepare(next);
  REQUIRE(parts.has_value());
  CHECK(server.server->Use(*parts));
  parts = core::Error{core::ErrorCode::kInternal, {}};  // the server alone keeps them
  REQUIRE(client.Send(Post("{}", "/v2/events")));
  HttpAnswer answer = client.Receive();
  CHECK(answer.status == 201);
  CHECK(answer.headers["access-control-allow-origin"] == "https://example.org");
  REQUIRE(client.Send(Post("{}", "/v1/events")));
  CHECK(client.Receive().status == 404);
  server.handler.Release();
  CHECK(busy.Receive().status == 201);
  REQUIRE(busy.Send(Post("{}x", "/v2/events")));
  CHECK(busy.Receive().status == 413);
  next->http.trusted_proxies = {"10.0.0.0/99"};
  CHECK(!server.server->Prepare(next).has_value());
}

}  // namespace
}  // namespace sluice::test
