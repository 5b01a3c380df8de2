#include <atomic>
#include <boost/json/parse.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "intake/admin_server.h"
#include "integration/http_fixture.h"

// How connections live and end, the fixed documents, and the admin listener.
namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

HttpAnswer Ask(std::uint16_t port, const std::string& method, const std::string& target,
               const std::string& headers = {}) {
  HttpClient client(port);
  client.Send(method + " " + target + " HTTP/1.1\r\nHost: h\r\n" + headers +
              "Connection: close\r\n\r\n");
  HttpAnswer answer = client.Receive(method);
  CHECK(client.IsClosed());
  return answer;
}

TEST_CASE("Routes: documents, wrong methods and unknown paths") {
  HttpServer server([](core::Config& config) {
    config.test_events = {"{\"tell\":1}", "{\"b\":2}"};
    config.http.home_page = "https://example.org/";
  });
  const std::uint16_t port = server.port();
  CHECK(Ask(port, "GET", "/_info/").status == 200);
  CHECK(Ask(port, "GET", "/robots.txt").body == "User-agent: *\nDisallow: /\n");
  HttpAnswer home = Ask(port, "DELETE", "/_info/home");
  CHECK(home.status == 301);
  CHECK(home.headers["location"] == "https://example.org/");
  HttpAnswer spec = Ask(port, "GET", "/?spec=True");
  CHECK(spec.status == 200);
  const boost::json::value document = boost::json::parse(spec.body);
  CHECK(document.at("openapi").as_string().starts_with("3."));
  for (const char* path :
       {"/v1/events", "/v1/_test/events", "/", "/robots.txt", "/_info", "/_info/home"}) {
    CHECK(document.at("paths").as_object().contains(path));
  }
  HttpAnswer doc = Ask(port, "GET", "/?doc");
  CHECK(doc.headers["content-type"] == "text/html; charset=utf-8");
  CHECK(doc.headers["content-security-policy"] == doc.headers["x-webkit-csp"]);
  HttpAnswer head = Ask(port, "HEAD", "/_info");
  CHECK(head.status == 200);
  CHECK(std::stoul(head.headers["content-length"]) == Ask(port, "GET", "/_info").body.size());
  HttpAnswer missing = Ask(port, "GET", "/nope?x=\"");
  CHECK(missing.status == 404);
  CHECK(boost::json::parse(missing.body).at("uri").as_string() == "/nope?x=\"");
  CHECK(Ask(port, "GET", "/").status == 404);
  HttpAnswer wrong = Ask(port, "GET", "/v1/events");
  CHECK(wrong.status == 405);
  CHECK(wrong.headers["allow"] == "POST");
  HttpAnswer options = Ask(port, "OPTIONS", "/v1/events");
  CHECK(options.status == 200);
  CHECK(options.headers["allow"] == "POST");
  CHECK(options.body == "POST");
  CHECK(Ask(port, "OPTIONS", "/_info").headers["allow"] == "GET,HEAD");
  HttpAnswer test = Ask(port, "GET", "/v1/_test/events");
  CHECK(test.status == 207);
  CHECK(boost::json::parse(test.body).at("body").as_string() == "[{\"tell\":1},{\"b\":2}]");
}

TEST_CASE("Routes: a body that nobody reads is skipped, or ends the connection") {
  HttpServer server;
  HttpClient client(server.port());
  REQUIRE(client.Send("PUT /v1/events HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde" +
                      Post("{}x")));
  CHECK(client.Receive().status == 405);
  CHECK(client.Receive().status == 201);
  REQUIRE(client.Send(
      "PUT /nope HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"));
  HttpAnswer answer = client.Receive();
  CHECK(answer.status == 404);
  CHECK(answer.headers["connection"] == "close");
  CHECK(client.IsClosed());
}

TEST_CASE("Answers: above a kilobyte they are compressed if the client can read that") {
  HttpServer server;
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("bad", "/v1/events", "Accept-Encoding: gzip, deflate\r\n")));
  HttpAnswer packed = client.Receive();
  CHECK(packed.headers["content-encoding"] == "gzip");
  CHECK(packed.headers["vary"] == "Accept-Encoding");
  CHECK(packed.body.size() < 1000);
  REQUIRE(client.Send(Post("bad")));
  HttpAnswer plain = client.Receive();
  CHECK(plain.headers.count("content-encoding") == 0);
  CHECK(plain.body.size() > 2000);
}

TEST_CASE("Answers: a large one to a slow reader arrives whole, and the next behind it") {
  HttpServer server;
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("huge") + Post("{}x")));
  const HttpAnswer huge = client.Receive();
  CHECK(huge.body == std::string(8'000'000, 'x'));
  CHECK(client.Receive().status == 201);
}

TEST_CASE("Answers: one that the memory budget has no room for ends the connection") {
  HttpServer server([](core::Config& config) { config.limits.memory_bytes = 1u << 20; });
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("huge")));
  CHECK(client.Receive().status == 0);
  HttpClient other(server.port());
  REQUIRE(other.Send(Post("{}x")));
  CHECK(other.Receive().status == 201);
}

TEST_CASE("Deadlines: header, body and idle") {
  HttpServer server([](core::Config& config) {
    config.limits.header_timeout = milliseconds(100);
    config.limits.body_timeout = milliseconds(100);
    config.limits.idle_timeout = milliseconds(300);
  });
  HttpClient slow_head(server.port());
  REQUIRE(slow_head.Send("POST /v1/ev"));
  HttpClient slow_body(server.port());
  REQUIRE(
      slow_body.Send("POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: "
                     "text/plain\r\nContent-Length: 9\r\n\r\nabc"));
  HttpClient slow_large(server.port());
  REQUIRE(
      slow_large.Send("POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: "
                      "text/plain\r\nContent-Length: 99999\r\n\r\nabc"));
  HttpClient slow_chunk(server.port());
  REQUIRE(slow_chunk.Send(
      "POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nTransfer-Encoding: "
      "chunked\r\n\r\n9\r\nabc"));
  HttpClient idle(server.port());
  REQUIRE(idle.Send(Post("{}x")));
  CHECK(idle.Receive().status == 201);
  for (HttpClient* client : {&slow_head, &slow_body, &slow_large, &slow_chunk}) {
    CHECK(client->Receive().status == 408);
    CHECK(client->IsClosed());
  }
  CHECK(idle.IsClosed());
}

TEST_CASE("Deadlines: a delivery that never ends is answered 503, and its late answer ignored") {
  HttpServer server([](core::Config& config) { config.limits.delivery_timeout = milliseconds(0); });
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("later")));
  server.handler.WaitForHeld(1);
  HttpAnswer answer = client.Receive();
  CHECK(answer.status == 503);
  CHECK(answer.headers.count("retry-after") == 1);
  CHECK(client.IsClosed());
  server.handler.Release();
}

TEST_CASE("Admission: above max_in_flight_requests 503, the others go on") {
  HttpServer server([](core::Config& config) { config.limits.max_in_flight_requests = 1; });
  HttpClient first(server.port());
  REQUIRE(first.Send(Post("later")));
  server.handler.WaitForHeld(1);
  HttpClient second(server.port());
  REQUIRE(second.Send(Post("{}x")));
  HttpAnswer refused = second.Receive();
  CHECK(refused.status == 503);
  CHECK(refused.headers.count("retry-after") == 1);
  CHECK(refused.body.find("limits.max_in_flight_requests") != std::string::npos);
  server.handler.Release();
  CHECK(first.Receive().status == 201);
  REQUIRE(second.Send(Post("{}x")));
  CHECK(second.Receive().status == 201);
}

TEST_CASE("Admission: chunked bodies are charged as they come") {
  HttpServer server([](core::Config& config) { config.limits.memory_bytes = 200'000; });
  HttpClient client(server.port());
  client.Send(
      "POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nTransfer-Encoding: "
      "chunked\r\n\r\n40000\r\n" +
      std::string(0x40000, 'x') + "\r\n0\r\n\r\n");
  HttpAnswer answer = client.Receive();
  CHECK(answer.status == 503);
  CHECK(answer.body.find("limits.memory_bytes") != std::string::npos);
}

TEST_CASE("Admission: a connection above max_connections is turned away, the others are not") {
  HttpServer server([](core::Config& config) { config.limits.max_connections = 1; });
  HttpClient first(server.port());
  REQUIRE(first.Send(Post("{}x")));
  CHECK(first.Receive().status == 201);
  HttpClient second(server.port());
  CHECK(second.Receive().status == 503);
  CHECK(second.IsClosed());
  REQUIRE(first.Send(Post("{}x")));
  CHECK(first.Receive().status == 201);
}

TEST_CASE(
    "Drain: idle connections end, a request in flight is answered, then its connection ends") {
  HttpServer server;
  HttpClient idle(server.port());
  REQUIRE(idle.Send(Post("{}x")));
  CHECK(idle.Receive().status == 201);
  HttpClient busy(server.port());
  REQUIRE(busy.Send(Post("later")));
  server.handler.WaitForHeld(1);
  HttpClient half(server.port());
  REQUIRE(
      half.Send("POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: "
                "text/plain\r\nContent-Length: 3\r\n\r\na"));
  HttpClient late(server.port());
  REQUIRE(late.Send("POST /v1/events HTTP/1.1\r\nHost: h\r\n"));
  HttpClient marker(server.port());  // its answer shows that what was sent before has been read
  REQUIRE(marker.Send(Post("{}x")));
  CHECK(marker.Receive().status == 201);
  server.server->StartDrain();
  CHECK(idle.IsClosed());
  CHECK(marker.IsClosed());
  REQUIRE(half.Send("bc"));
  HttpAnswer finished = half.Receive();
  CHECK(finished.status == 201);
  CHECK(finished.headers["connection"] == "close");
  REQUIRE(late.Send("Content-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc"));
  HttpAnswer refused = late.Receive();
  CHECK(refused.status == 503);
  CHECK(refused.body.find("shutting_down") != std::string::npos);
  server.handler.Release();
  CHECK(busy.Receive().status == 201);
  CHECK(busy.IsClosed());
  CHECK(HttpClient(server.port()).fd() == -1);
  CHECK(server.server->Stop(steady_clock::now() + seconds(5)));
}

TEST_CASE("Stop: ends at its deadline, and an answer that comes later harms nothing") {
  HttpServer server;
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("later")));
  server.handler.WaitForHeld(1);
  CHECK(!server.server->Stop(steady_clock::now() + milliseconds(20)));
  CHECK(client.Receive().status == 0);
  server.handler.Release();  // its task is dropped, and with it the permit
}

TEST_CASE("Session: a client that leaves while its events are delivered disturbs nobody") {
  HttpServer server;
  {
    HttpClient client(server.port());
    REQUIRE(client.Send(Post("later")));
    server.handler.WaitForHeld(1);
  }
  server.handler.Release();
  HttpClient other(server.port());
  REQUIRE(other.Send(Post("{}x")));
  CHECK(other.Receive().status == 201);
}

TEST_CASE("Session: a client that only ends its sending gets its answer") {
  HttpServer server;
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("later")));
  client.EndSending();
  server.handler.WaitForHeld(1);
  server.handler.Release();
  CHECK(client.Receive().status == 201);
  CHECK(client.IsClosed());
}

TEST_CASE("EventServer: a port in use is one sentence with the settings to change") {
  HttpServer server;
  core::Config config = server.config;
  config.http.port = server.port();
  intake::AdmissionControl admission(config.limits);
  intake::EventServer second(config, admission, *server.metrics, server.handler.Factory(), {});
  const auto started = second.Start();
  REQUIRE(!started);
  CHECK(started.error().message.find("Address already in use") != std::string::npos);
  CHECK(started.error().message.find("'port'") != std::string::npos);
}

TEST_CASE("EventServer: many clients on several threads all get their own answers") {
  HttpServer server([](core::Config& config) { config.http.io_threads = 3; });
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int c = 0; c < 6; ++c) {
    clients.emplace_back([&, c] {
      HttpClient client(server.port());
      for (int i = 0; i < 50; ++i) {
        const std::string body = "tell " + std::to_string(c) + "/" + std::to_string(i);
        client.Send(Post(body));
        const HttpAnswer answer = client.Receive();
        if (answer.body.find("\"" + body + "\"") != std::string::npos) ++good;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(good == 300);
}

TEST_CASE("EventServer: requests are counted by route, method and status") {
  HttpServer server;
  HttpClient client(server.port());
  REQUIRE(client.Send(Post("{}x") + "BREW /nope HTTP/1.1\r\nHost: h\r\n\r\n"));
  CHECK(client.Receive().status == 201);
  CHECK(client.Receive().status == 404);
  const std::string text = server.metrics->Scrape();
  CHECK(text.find("path=\"v1/events\"") != std::string::npos);
  CHECK(text.find("path=\"_other\"") != std::string::npos);
  CHECK(text.find("BREW") == std::string::npos);
}

TEST_CASE("AdminServer: metrics, liveness and readiness") {
  std::atomic<bool> ready{true};
  intake::AdminServer admin({"127.0.0.1", 0}, {[] { return std::string("a_metric 1\n"); },
                                               [&ready] {
                                                 return std::vector<intake::ReadinessCondition>{
                                                     {"drain", true, {}},
                                                     {"producer", ready, "all brokers down"}};
                                               }});
  REQUIRE(admin.Start().has_value());
  CHECK(Ask(admin.port(), "GET", "/metrics").body == "a_metric 1\n");
  CHECK(Ask(admin.port(), "GET", "/healthz").status == 200);
  CHECK(Ask(admin.port(), "GET", "/readyz").status == 200);
  ready = false;
  const HttpAnswer answer = Ask(admin.port(), "GET", "/readyz?verbose");
  CHECK(answer.status == 503);
  const boost::json::value document = boost::json::parse(answer.body);
  CHECK(document.at("ready") == false);
  CHECK(document.at("conditions").at(1).at("name") == "producer");
  CHECK(document.at("conditions").at(1).at("ok") == false);
  CHECK(Ask(admin.port(), "GET", "/nope").status == 404);
  CHECK(Ask(admin.port(), "POST", "/metrics").status == 405);
  intake::AdminServer second({"127.0.0.1", admin.port()}, {});
  REQUIRE(!second.Start());
  admin.Stop();
}

}  // namespace
}  // namespace sluice::test
