#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "core/uuid.h"
#include "intake/admission.h"
#include "intake/byte_buffer.h"
#include "intake/deadlines.h"
#include "intake/http_parser.h"
#include "intake/http_reply.h"
#include "intake/router.h"

namespace sluice::intake {
namespace {

struct NoChunks final : ChunkSink {
  bool OnChunk(std::string_view) override { return true; }
};

boost::system::error_code Parse(std::string_view head_text, RequestHead& head) {
  NoChunks sink;
  core::LimitOptions limits;
  limits.max_uri_bytes = 1000;
  limits.max_headers = 20;
  RequestParser parser(head, sink, head_text, limits);
  boost::system::error_code ec;
  parser.put(boost::asio::const_buffer(head_text.data(), head_text.size()), ec);
  return ec;
}

TEST_CASE("RequestHead: path and query of every form of target") {
  const auto check = [](const char* target, const char* path, const char* query) {
    CAPTURE(target);
    const std::string text = std::string("GET ") + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
    RequestHead head;
    REQUIRE(!Parse(text, head));
    CHECK(head.path() == path);
    CHECK(head.query() == query);
    CHECK(head.target() == target);
  };
  check("/v1/events", "/v1/events", "");
  check("/v1/events?hasty=1&u=http://x/?y", "/v1/events", "hasty=1&u=http://x/?y");
  check("/?spec", "/", "spec");
  check("http://host:80/v1/events?a=b", "/v1/events", "a=b");
  check("http://host", "/", "");
  check("http://host?spec", "/", "spec");
  check("HTTPS://[::1]:80", "/", "");
  check("/x?a=http://y", "/x", "a=http://y");
}

TEST_CASE("RequestHead: the last field of a name counts, forwarded-for is joined") {
  RequestHead head;
  const std::string text =
      "POST / HTTP/1.1\r\nHost: h\r\nX-Request-Id: a\r\nx-request-id:  b \r\nX-Forwarded-For: "
      "1.1.1.1\r\n"
      "x-forwarded-for: 2.2.2.2, 3.3.3.3\r\nEmpty:\r\n\r\n";
  REQUIRE(!Parse(text, head));
  CHECK(head.Header("x-request-id") == "b");
  CHECK(head.Header("x-forwarded-for") == "1.1.1.1, 2.2.2.2, 3.3.3.3");
  CHECK(head.Header("empty") == "");
  CHECK(head.Header("absent") == "");
  REQUIRE(!Parse("GET / HTTP/1.1\r\nHost: h\r\nx-forwarded-for: 4.4.4.4\r\n\r\n", head));
  CHECK(head.Header("x-forwarded-for") == "4.4.4.4");
}

TEST_CASE("RequestParser: what lets two servers disagree about the end of a request is refused") {
  RequestHead head;
  for (const char* fields :
       {"Transfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, gzip\r\n", "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n", "Content-Length: -3\r\n",
        "Content-Length: 3x\r\n", "Content-Length: +3\r\n", "Content-Length :3\r\n",
        "A: b\r\n c\r\n", "Bad Name: x\r\n", "A: b\nC: d\r\n"}) {
    CAPTURE(fields);
    CHECK(Parse(std::string("POST / HTTP/1.1\r\nHost: h\r\n") + fields + "\r\n", head));
  }
  CHECK(Parse("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", head));
  CHECK(Parse("POST / HTTP/2.0\r\n\r\n", head));
  CHECK(!Parse("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n", head));
}

TEST_CASE("RequestParser: a second reading of who is asked, and how, is refused") {
  RequestHead head;
  const auto parse = [&](const std::string& fields) {
    return Parse("POST / HTTP/1.1\r\n" + fields + "\r\n", head);
  };
  for (const char* fields :
       {"", "Host: a\r\nHost: a\r\n", "Host: a, b\r\n", "Host: a/b\r\n", "Host: u@a\r\n",
        "Host: a:b\r\n", "Host: :80\r\n", "Host: [::1\r\n", "Host: a\r\nX:\r\n y\r\n",
        "Host: a\r\nX:\r\n \r\n", "Host: a\r\nTransfer-Encoding:\r\n chunked\r\n",
        "Host: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n",
        "Host: a\r\nContent-Length: 3, 3\r\n", "Host: a\r\nContent-Length:\r\n",
        "Host: a\r\nContent-Type: text/plain\r\nContent-Type: application/json\r\n",
        "Host: a\r\nExpect: 100-continue\r\nExpect: x\r\n"}) {
    CAPTURE(fields);
    CHECK(parse(fields));
  }
  for (const char* fields :
       {"Host:\r\n", "Host: a.b_c:8080\r\n", "Host: [2001:db8::1]:80\r\n",
        "Host: a\r\nX:\r\nY: \t z\r\n",
        "Host: a\r\nContent-Type: text/plain\r\nContent-Type: text/plain\r\n"}) {
    CAPTURE(fields);
    CHECK(!parse(fields));
  }
}

TEST_CASE("RequestParser: a target is one of the four forms, for the methods that have it") {
  RequestHead head;
  std::string text;  // which the head views
  const auto parse = [&](const std::string& line) {
    text = line + " HTTP/1.1\r\nHost: h\r\n\r\n";
    return Parse(text, head);
  };
  for (const char* line :
       {"GET *", "GET v1/events", "GET ftp://h/", "GET http:///", "GET http://u@h/", "GET h:80",
        "GET /a#b", "CONNECT /", "CONNECT h", "OPTIONS **"}) {
    CAPTURE(line);
    CHECK(parse(line));
  }
  CHECK(!parse("OPTIONS *"));
  CHECK(head.is_asterisk());
  CHECK(!parse("CONNECT h:443"));
}

TEST_CASE("RequestParser: bounds of fields and target name their settings") {
  RequestHead head;
  std::string fields = "Host: h\r\n";
  for (int i = 1; i < 20; ++i) fields += "a: b\r\n";
  CHECK(!Parse("GET / HTTP/1.0\r\n" + fields + "\r\n", head));
  CHECK(Parse("GET / HTTP/1.0\r\n" + fields + "a: b\r\n\r\n", head));
  CHECK(!Parse("GET /" + std::string(999, 'x') + " HTTP/1.0\r\n\r\n", head));
  CHECK(Parse("GET /" + std::string(1000, 'x') + " HTTP/1.0\r\n\r\n", head));
}

TEST_CASE("FindEarlyDefect: what can only be refused is not waited for") {
  core::LimitOptions limits;
  limits.max_uri_bytes = 300;
  for (const std::string& text :
       {std::string("\x16\x03\x01"), std::string("GET /\r\n"), std::string("GET / HTTP/1.1\n"),
        std::string("GET / HTTP/1.1\r\nA: b\n"), std::string(400, 'x'), std::string("\n"),
        std::string("GET / \r\n")}) {
    CAPTURE(text);
    CHECK(FindEarlyDefect(text, 0, limits));
  }
  const std::string text = "GET / HTTP/1.1\r\nA: b\r\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CAPTURE(cut);
    CHECK(!FindEarlyDefect(std::string_view(text).substr(0, cut), 0, limits));
    CHECK(!FindEarlyDefect(text, cut, limits));
  }
  CHECK(FindEarlyDefect(text + "C: d\n", text.size(), limits)->status == 400);
}

TEST_CASE("FindEndOfHead: finds an end that was cut anywhere") {
  const std::string text = "GET / HTTP/1.1\r\n\r\nrest";
  for (std::size_t cut = 0; cut < 18; ++cut) {
    CHECK(FindEndOfHead(std::string_view(text).substr(0, cut), 0) == 0);
    CHECK(FindEndOfHead(text, cut) == 18);
  }
}

TEST_CASE("Router: whatever the case, one slash at the end, aliases") {
  core::Config config;
  config.http.event_paths = {"/v1/events", "/evt-103e/v2/Events/"};
  const Router router(config);
  REQUIRE(router.Find("/V1/Events/"));
  CHECK(router.Find("/v1/events")->label == "v1/events");
  REQUIRE(router.Find("/evt-103e/v2/events"));
  CHECK(router.Find("/evt-103e/v2/events")->kind == RouteKind::kEvents);
  CHECK(!router.Find("/v1/events//"));
  CHECK(!router.Find("/v1/event"));
  CHECK(!router.Find("/v1/_test/events"));
  REQUIRE(router.Find("/"));
  CHECK(router.Find("/")->label == "root");
  config.test_events = {"{}"};
  CHECK(Router(config).Find("/v1/_test/events"));
}

TEST_CASE("Router: stream configuration is there only if it is served, names are one segment") {
  core::Config config;
  CHECK(!Router(config).Find("/v1/stream-configs"));
  CHECK(!Router(config).Find("/w/api.php"));
  const Router router(config, StreamConfigRoutes::kServed);
  REQUIRE(router.Find("/v1/stream-configs/"));
  CHECK(router.Find("/v1/stream-configs/")->kind == RouteKind::kStreamConfigs);
  const HttpRoute* named = router.Find("/V1/Stream-Configs/A.b,c/");
  REQUIRE(named);
  CHECK(named->kind == RouteKind::kNamedStreamConfigs);
  CHECK(named->label == "v1/stream-configs/--streams");
  CHECK(Router::Parameter(*named, "/V1/Stream-Configs/A.b,c/") == "A.b,c");
  CHECK(!router.Find("/v1/stream-configs/a/b"));
  CHECK(router.Find("/W/api.php")->kind == RouteKind::kStreamConfigApi);
  config.http.stream_config_api_path = "";
  CHECK(!Router(config, StreamConfigRoutes::kServed).Find("/w/api.php"));
}

TEST_CASE("AdmissionControl: limits are exact and permits give back what they took") {
  core::LimitOptions limits;
  limits.max_in_flight_requests = 2;
  limits.memory_bytes = 1000;
  limits.max_connections = 1;
  AdmissionControl control(limits);
  auto first = control.Admit(600);
  REQUIRE(first.has_value());
  const auto too_big = control.Admit(401);
  REQUIRE(!too_big);
  CHECK(too_big.error().code == core::ErrorCode::kOverloaded);
  CHECK(too_big.error().message.find("limits.memory_bytes") != std::string::npos);
  CHECK(control.in_flight() == 1);
  auto second = control.Admit(400);
  REQUIRE(second.has_value());
  CHECK(control.Admit(0).error().message.find("limits.max_in_flight_requests") !=
        std::string::npos);
  CHECK(!first->Charge(1));
  second->Refund(100);
  CHECK(first->Charge(100));
  CHECK(!control.Reserve(1));
  first->Free();
  CHECK(control.bytes() == 300);
  Permit memory = control.Reserve(700);
  REQUIRE(memory);
  CHECK(control.in_flight() == 1);
  Permit moved = std::move(memory);
  CHECK(!memory);
  moved.Free();
  second->Free();
  CHECK(control.bytes() == 0);
  CHECK(control.in_flight() == 0);
  CHECK(control.Connected());
  CHECK(!control.Connected());
  control.Disconnected();
  CHECK(control.Connected());
  control.StartDrain();
  CHECK(control.Admit(0).error().code == core::ErrorCode::kShuttingDown);
}

TEST_CASE("AdmissionControl: other limits count from then on, what is in stays") {
  core::LimitOptions limits;
  limits.max_in_flight_requests = 1;
  AdmissionControl control(limits);
  const auto first = control.Admit(600);
  REQUIRE(first.has_value());
  REQUIRE(!control.Admit(0));
  limits.max_in_flight_requests = 2;
  limits.memory_bytes = 700;
  limits.max_connections = 0;
  control.Use(limits);
  CHECK(control.Admit(101).error().message.find("limits.memory_bytes is 700") != std::string::npos);
  CHECK(control.Admit(100).has_value());
  CHECK(!control.Connected());
  CHECK(first->bytes() == 600);
}

struct Recorder final : DeadlineEntry {
  std::vector<Wait> seen;
  void OnDeadline(Wait what) override { seen.push_back(what); }
};

TEST_CASE("Deadlines: each kind after its own time, the last Set counts, None removes") {
  core::LimitOptions limits;
  limits.header_timeout = std::chrono::milliseconds(100);
  limits.body_timeout = std::chrono::milliseconds(1000);
  Deadlines deadlines(limits);
  const auto start = Deadlines::Clock::now() + std::chrono::hours(1);
  deadlines.Sweep(start);
  Recorder a;
  Recorder b;
  Recorder c;
  deadlines.Set(a, Wait::kHeader);
  deadlines.Set(b, Wait::kHeader);
  deadlines.Set(c, Wait::kHeader);
  deadlines.Set(b, Wait::kBody);
  deadlines.Set(c, Wait::kNone);
  deadlines.Sweep(start + std::chrono::milliseconds(99));
  CHECK(a.seen.empty());
  deadlines.Sweep(start + std::chrono::milliseconds(100));
  CHECK(a.seen == std::vector<Wait>{Wait::kHeader});
  CHECK(b.seen.empty());
  deadlines.Sweep(start + std::chrono::milliseconds(1000));
  CHECK(b.seen == std::vector<Wait>{Wait::kBody});
  deadlines.Sweep(start + std::chrono::hours(9));
  CHECK(c.seen.empty());
  CHECK(a.seen.size() == 1);
}

TEST_CASE("Deadlines: other durations move what is running, in its order") {
  core::LimitOptions limits;
  limits.header_timeout = std::chrono::milliseconds(1000);
  Deadlines deadlines(limits);
  const auto start = Deadlines::Clock::now() + std::chrono::hours(1);
  deadlines.Sweep(start);
  Recorder first;
  Recorder second;
  deadlines.Set(first, Wait::kHeader);
  limits.header_timeout = std::chrono::milliseconds(300);
  deadlines.Use(limits);
  deadlines.Sweep(start + std::chrono::milliseconds(100));
  deadlines.Set(second, Wait::kHeader);
  deadlines.Sweep(start + std::chrono::milliseconds(300));
  CHECK(first.seen == std::vector<Wait>{Wait::kHeader});
  CHECK(second.seen.empty());
  deadlines.Sweep(start + std::chrono::milliseconds(400));
  CHECK(second.seen == std::vector<Wait>{Wait::kHeader});
}

TEST_CASE("ReplyWriter: a reason cannot end the line, the prepared 201 follows the clock") {
  core::HttpOptions options;
  ReplyWriter writer(options);
  writer.SetTime(std::chrono::system_clock::from_time_t(784111777));
  Answer answer;
  answer.status = 400;
  answer.reason = "bad\r\nSet-Cookie: x\x80";
  std::string out;
  writer.WriteHead(answer, out);
  CHECK(out.starts_with(
      "HTTP/1.1 400 bad??Set-Cookie: x?\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
  CHECK(out.ends_with("\r\ncontent-length: 0\r\n\r\n"));
  CHECK(out.find("Connection") == std::string::npos);
  const std::string_view accepted =
      writer.Accepted(produce::Durability::kKafka, Connection::kClose);
  CHECK(
      accepted.starts_with("HTTP/1.1 201 All 1 out of 1 events were accepted.\r\nDate: Sun, 06 Nov "
                           "1994 08:49:37 GMT\r\n"));
  CHECK(accepted.find("\r\nSluice-Durability: kafka\r\n") != std::string_view::npos);
  CHECK(accepted.find("\r\nConnection: close\r\n") != std::string_view::npos);
  writer.SetTime(std::chrono::system_clock::from_time_t(784111778));
  CHECK(writer.Accepted(produce::Durability::kNone, Connection::kKeepAlive).find("08:49:38") !=
        std::string_view::npos);
  options.cors.reset();
  options.csp.reset();
  const ReplyWriter bare(options);
  bare.WriteHead(answer, out);
  CHECK(out.find("access-control") == std::string::npos);
  CHECK(out.find("x-frame-options") == std::string::npos);
}

TEST_CASE("UuidGenerator: version 4, distinct") {
  core::UuidGenerator generator;
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const core::UuidText uuid = generator.Next();
    const std::string text(core::View(uuid));
    CHECK(text[14] == '4');
    CHECK(std::string("89ab").find(text[19]) != std::string::npos);
    CHECK(text.find_first_not_of("0123456789abcdef-") == std::string::npos);
    for (const int dash : {8, 13, 18, 23}) CHECK(text[static_cast<std::size_t>(dash)] == '-');
    seen.insert(text);
  }
  CHECK(seen.size() == 1000);
}

}  // namespace
}  // namespace sluice::intake
