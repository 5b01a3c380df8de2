#include "daemon/liveness.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "daemon/inherited_sockets.h"
#include "daemon/status_line.h"

namespace sluice::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("Liveness: a loop that does not come round is named with its time, the others are not") {
  const Liveness::Time start{};
  Liveness::Time io = start;
  Liveness::Time kafka = start;
  Liveness liveness;
  liveness.Watch("io", [&] { return io; });
  liveness.Watch("kafka", [&] { return kafka; });
  CHECK(liveness.Stuck(start + seconds(1), milliseconds(1000)).empty());
  kafka = start + seconds(3);
  CHECK(liveness.Stuck(start + seconds(3), milliseconds(1000)) == "io (3 s)");
  io = start + seconds(3);
  CHECK(liveness.Stuck(start + seconds(3), milliseconds(1000)).empty());
  CHECK(liveness.Stuck(start + seconds(5), milliseconds(1000)) == "io (2 s), kafka (2 s)");
}

TEST_CASE("StatusLine: rates are those since the line before") {
  core::Metrics metrics(core::MetricOptions{}, "test");
  const StatusLine::Time start{};
  metrics.EventsReceived(100);
  StatusLine status(metrics, start);
  metrics.EventsReceived(50);
  metrics.EventsEnded(core::Disposition::kRefused, 10);
  CHECK(status.Next(start + seconds(5)) == "10 events/s, 2 refused/s, 0 failed/s");
  CHECK(status.Next(start + seconds(10)) == "0 events/s, 0 refused/s, 0 failed/s");
}

// A socket on a free port, listening or not.
struct TestSocket {
  explicit TestSocket(int family, int type = SOCK_STREAM, int backlog = 1)
      : fd(::socket(family, type, 0)) {
    REQUIRE(fd >= 0);
    if (backlog > 0) REQUIRE(::listen(fd, backlog) == 0);
  }
  ~TestSocket() { ::close(fd); }
  const int fd;
};

TEST_CASE("SortSockets: names say what a socket is for, none is for events") {
  const TestSocket one(AF_INET);
  const TestSocket two(AF_INET6);
  const TestSocket three(AF_INET);
  const auto sorted = SortSockets({{one.fd, "events"}, {two.fd, "unknown"}, {three.fd, "admin"}});
  REQUIRE(sorted.has_value());
  CHECK(sorted->events == std::vector<int>{one.fd, two.fd});
  CHECK(sorted->admin == std::vector<int>{three.fd});
  CHECK(sorted->any());
  CHECK(!SortSockets({})->any());
}

std::string Refusal(const std::vector<std::pair<int, std::string>>& named) {
  const auto sorted = SortSockets(named);
  REQUIRE(!sorted.has_value());
  return sorted.error().message;
}

TEST_CASE("SortSockets: what cannot be used is named with what to change") {
  const TestSocket good(AF_INET);
  const TestSocket silent(AF_INET, SOCK_STREAM, 0);
  const TestSocket datagram(AF_INET, SOCK_DGRAM, 0);
  const std::string name = Refusal({{good.fd, "metrics"}});
  CHECK(name.find("\"metrics\"") != std::string::npos);
  CHECK(name.find("FileDescriptorName= of its socket unit to events or admin") !=
        std::string::npos);
  CHECK(Refusal({{silent.fd, "events"}}).find("ListenStream=") != std::string::npos);
  CHECK(Refusal({{datagram.fd, "events"}}).find("ListenStream=") != std::string::npos);
  CHECK(Refusal({{good.fd, "admin"}, {good.fd, "admin"}}).find("second one") != std::string::npos);
}

}  // namespace
}  // namespace sluice::daemon
