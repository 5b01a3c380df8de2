#include <zlib.h>

#include <boost/json/parse.hpp>
#include <string>

#include "intake/decompress.h"
#include "integration/http_fixture.h"

// What comes in: heads, bodies, and what is refused of them.
namespace sluice::test {
namespace {

constexpr const char* kOne = "All 1 out of 1 events were accepted.";

std::string Told(const HttpAnswer& answer, const char* member) {
  REQUIRE(answer.status == 207);
  const boost::json::value told = boost::json::parse(answer.body);
  return std::string(told.at(member).as_string());
}

std::string Gzip(std::string_view text) {
  std::string out;
  REQUIRE(intake::Deflate(intake::ContentCoding::kGzip, 6, text, out));
  return out;
}

TEST_CASE("Session: one event is answered 201 and the connection goes on") {
  HttpServer server;
  HttpClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    REQUIRE(client.Send(Post("{\"a\":1}")));
    HttpAnswer answer = client.Receive();
    CHECK(answer.status == 201);
    CHECK(answer.reason == kOne);
    CHECK(answer.body.empty());
    CHECK(answer.headers["sluice-durability"] == "file");
    CHECK(answer.headers["access-control-allow-methods"] == "post");
    CHECK(answer.headers["x-frame-options"] == "SAMEORIGIN");
    CHECK(answer.headers["date"].size() == 29);
    CHECK(answer.headers.count("content-type") == 0);
    CHECK(answer.headers.count("connection") == 0);
  }
}

TEST_CASE("Session: pipelined requests are answered in order, also while one waits") {
  HttpServer server;
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("later") + Post("bad") + Post("{}x") +
                      "GET /_info/name HTTP/1.1\r\nHost: h\r\n\r\n" + Post("tell me")));
  server.handler.WaitForHeld(1);
  server.handler.Release();
  CHECK(client.Receive().status == 201);
  CHECK(client.Receive().status == 400);
  CHECK(client.Receive().status == 201);
  CHECK(client.Receive().body == "{\"name\":\"sluice\"}");
  CHECK(Told(client.Receive(), "body") == "tell me");
}

TEST_CASE("Session: bodies of every size arrive whole") {
  HttpServer server;
  HttpClient client(server.port());
  for (const std::size_t size : {1000u, 3000u, 4000u, 4096u, 5000u, 100000u, 3000000u}) {
    CAPTURE(size);
    const std::string body = "tell " + std::string(size, 'z');
    REQUIRE(client.Send(Post(body)));
    const HttpAnswer answer = client.Receive();
    CHECK(Told(answer, "body") == body);
    CHECK(Told(answer, "charged") == std::to_string(body.size()));
  }
}

TEST_CASE("Session: a request in single bytes is understood") {
  HttpServer server;
  HttpClient client(server.port());
  const std::string chunked =
      "POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n"
      "3;ext=1\r\ntel\r\n1\r\nl\r\n0\r\nTrailer: x\r\n\r\n";
  for (const std::string& text : {Post("tell"), chunked, Post("tell")}) {
    for (const char c : text) REQUIRE(client.Send(std::string_view(&c, 1)));
    CHECK(Told(client.Receive(), "body") == "tell");
  }
}

TEST_CASE("Session: chunked bodies, with the next request behind them") {
  HttpServer server;
  HttpClient client(server.port());
  const std::string head =
      "POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n";
  const std::string large(70000, 'c');
  REQUIRE(client.Send(head + "5\r\ntell \r\n11170\r\n" + large + "\r\n0\r\n\r\n" + Post("tell b") +
                      head + "0\r\n\r\n" + Post("tell c")));
  CHECK(Told(client.Receive(), "body") == "tell " + large);
  CHECK(Told(client.Receive(), "body") == "tell b");
  const HttpAnswer empty = client.Receive();
  CHECK(empty.status == 400);
  CHECK(empty.reason == "Request body was empty. Must provide JSON encoded events.");
  CHECK(Told(client.Receive(), "body") == "tell c");
}

TEST_CASE("Session: what was asked reaches the handler") {
  HttpServer server([](core::Config& config) {
    config.http.schema_uri_query_param = "schema_uri";
    config.http.stream_query_param = "stream";
    config.http.trusted_proxies = {"127.0.0.0/8"};
  });
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("tell", "/v1/events?schema_uri=/w3c/x%2F1.0.0&stream=a+b&hasty=true",
                           "User-Agent: me\r\nX-Request-Id: id-1\r\n")));
  HttpAnswer answer = client.Receive();
  CHECK(Told(answer, "schema_uri") == "/w3c/x/1.0.0");
  CHECK(Told(answer, "stream") == "a b");
  CHECK(Told(answer, "mode") == "hasty");
  CHECK(Told(answer, "request_id") == "id-1");
  CHECK(Told(answer, "user_agent") == "me");
  CHECK(Told(answer, "peer") == "127.0.0.1");
  CHECK(Told(answer, "trusted") == "yes");
  REQUIRE(client.Send(
      Post("tell", "/V1/Events/?hasty=false", "Content-Type: application/x-ndjson\r\n")));
  answer = client.Receive();
  CHECK(Told(answer, "kind") == "ndjson");
  CHECK(Told(answer, "mode") == "guaranteed");
  CHECK(Told(answer, "request_id").size() == 36);
}

TEST_CASE("Session: a request stays readable after an answer that came before its processing") {
  HttpServer server;
  HttpClient client(server.port());
  const std::string agent = "User-Agent: me\r\n";
  for (const std::size_t size : {std::size_t{10}, std::size_t{20000}, std::size_t{400000}}) {
    const std::string body = "early " + std::string(size, 'e');
    REQUIRE(client.Send(Post(body, "/v1/events", agent) + Post("{}x")));
    CHECK(client.Receive().status == 202);
    CHECK(client.Receive().status == 201);
    CHECK(server.handler.WaitForReadLate() == body + "|me");
  }
  REQUIRE(client.Send("POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\n" +
                      agent + "Transfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n0\r\n\r\n" +
                      Post("{}x")));
  CHECK(client.Receive().status == 202);
  CHECK(client.Receive().status == 201);
  CHECK(server.handler.WaitForReadLate() == "early|me");
}

TEST_CASE("Session: compressed bodies are inflated") {
  HttpServer server;
  HttpClient client(server.port());
  const std::string text = "tell " + std::string(50000, 'g');
  REQUIRE(client.Send(Post(Gzip(text), "/v1/events", "Content-Encoding: GZip\r\n")));
  CHECK(Told(client.Receive(), "body") == text);
  REQUIRE(client.Send(Post("notgzip", "/v1/events", "Content-Encoding: gzip\r\n")));
  const HttpAnswer answer = client.Receive();
  CHECK(answer.status == 400);
  CHECK(answer.body.find("malformed_body") != std::string::npos);
  REQUIRE(client.Send(Post("{}x")));
  CHECK(client.Receive().status == 201);
}

TEST_CASE("Session: refused by type or coding, the body is skipped and the connection goes on") {
  HttpServer server;
  HttpClient client(server.port());
  for (const char* header :
       {"Content-Type: application/csp-report\r\n", "Content-Encoding: lzma\r\n",
        "Content-Type: application/json; charset=latin1\r\n"}) {
    CAPTURE(header);
    REQUIRE(client.Send(Post("{\"a\":1}", "/v1/events", header)));
    HttpAnswer answer = client.Receive();
    CHECK(answer.status == 415);
    CHECK(answer.headers["content-type"] == "application/json; charset=utf-8");
    CHECK(answer.body.find("\"invalid\":[],\"error\":[") != std::string::npos);
  }
  REQUIRE(client.Send(Post("", "/v1/events", "Content-Type: text/html\r\n")));
  CHECK(client.Receive().status == 400);  // empty, whatever its type
  REQUIRE(client.Send(Post("{}x")));
  CHECK(client.Receive().status == 201);
}

TEST_CASE("Session: a body above the limit gets 413, then the connection ends") {
  HttpServer server([](core::Config& config) { config.http.max_body_bytes = 10000; });
  SUBCASE("by its length, all of it sent") {
    HttpClient client(server.port());
    client.Send(Post(std::string(500000, 'x')));
    CHECK(client.Receive().status == 413);
    CHECK(client.IsClosed());
  }
  SUBCASE("by its length, nothing of it sent") {
    HttpClient client(server.port());
    REQUIRE(
        client.Send("POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: "
                    "text/plain\r\nContent-Length: 10001\r\n"
                    "Expect: 100-continue\r\n\r\n"));
    HttpAnswer answer = client.Receive();
    CHECK(answer.status == 413);
    CHECK(answer.headers["connection"] == "close");
  }
  SUBCASE("by its chunks") {
    HttpClient client(server.port());
    client.Send(
        "POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nTransfer-Encoding: "
        "chunked\r\n\r\n"
        "10000\r\n" +
        std::string(0x10000, 'x') + "\r\n0\r\n\r\n");
    CHECK(client.Receive().status == 413);
    CHECK(client.IsClosed());
  }
  SUBCASE("when inflated: it was read, the connection goes on") {
    HttpClient client(server.port());
    REQUIRE(client.Send(
        Post(Gzip(std::string(100000, 'x')), "/v1/events", "Content-Encoding: gzip\r\n")));
    CHECK(client.Receive().status == 413);
    REQUIRE(client.Send(Post("{}x")));
    CHECK(client.Receive().status == 201);
  }
}

TEST_CASE("Session: 100-continue is sent only for a body that will be read") {
  HttpServer server;
  const std::string expect = "Expect: 100-Continue\r\nContent-Type: application/json\r\n";
  HttpClient client(server.port());
  REQUIRE(client.Send("POST /v1/events HTTP/1.1\r\nHost: h\r\n" + expect +
                      "Content-Length: 4\r\n\r\n"));
  CHECK(client.Receive().status == 100);
  REQUIRE(client.Send("tell"));
  CHECK(Told(client.Receive(), "body") == "tell");
  REQUIRE(client.Send("POST /v1/events HTTP/1.1\r\nHost: h\r\n" + expect +
                      "Transfer-Encoding: chunked\r\n\r\n"));
  CHECK(client.Receive().status == 100);
  REQUIRE(client.Send("4\r\ntell\r\n0\r\n\r\n"));
  CHECK(Told(client.Receive(), "body") == "tell");
  REQUIRE(client.Send(
      "POST /v1/events HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Type: text/html\r\n"
      "Transfer-Encoding: chunked\r\n\r\n"));
  CHECK(client.Receive().status == 415);
  CHECK(client.IsClosed());
  HttpClient other(server.port());
  REQUIRE(other.Send(
      "POST /v1/events HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\nContent-Length: 3\r\n\r\nabc"));
  CHECK(other.Receive().status == 417);
}

TEST_CASE("Session: a broken head is answered and the connection ended") {
  HttpServer server([](core::Config& config) { config.limits.max_header_bytes = 8192; });
  const auto status = [&](const std::string& text) {
    HttpClient client(server.port());
    client.Send(text);
    const int got = client.Receive().status;
    CHECK(client.IsClosed());
    return got;
  };
  CHECK(status("NONSENSE\r\n\r\n") == 400);
  CHECK(status("GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n") == 400);
  CHECK(status("GET / HTTP/3.0\r\n\r\n") == 400);
  CHECK(status("POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: "
               "chunked\r\n\r\n") == 400);
  CHECK(status("GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(9000, 'x') + "\r\n\r\n") == 431);
  CHECK(status("GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(30000, 'x')) == 431);
  CHECK(status("GET /_info HTTP/1.1\r\nHost: h\r\nConnection: close\r\nA: " +
               std::string(8000, 'x') + "\r\n\r\n") == 200);
  CHECK(status("\r\n\r\nGET /_info HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n") == 200);
  CHECK(status(
            "POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nTransfer-Encoding: "
            "chunked\r\n\r\nzz\r\n") == 400);
}

TEST_CASE("Session: a chunk header without end is refused, not kept") {
  HttpServer server;
  HttpClient client(server.port());
  client.Send(
      "POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3;x=" +
      std::string(40000, 'e'));
  CHECK(client.Receive().status == 400);
  CHECK(client.IsClosed());
}

TEST_CASE("Session: HTTP/1.0 closes unless it asks to go on") {
  HttpServer server;
  HttpClient client(server.port());
  const std::string rest = "Content-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc";
  REQUIRE(client.Send("POST /v1/events HTTP/1.0\r\nConnection: keep-alive\r\n" + rest));
  HttpAnswer answer = client.Receive();
  CHECK(answer.status == 201);
  CHECK(answer.headers["connection"] == "keep-alive");
  REQUIRE(client.Send("POST /v1/events HTTP/1.0\r\n" + rest));
  answer = client.Receive();
  CHECK(answer.headers["connection"] == "close");
  CHECK(client.IsClosed());
}

}  // namespace
}  // namespace sluice::test
