#include "intake/admin_server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/http_client.h"

namespace sluice::test {
namespace {

using intake::AdminAnswer;
using intake::AdminMethod;
using intake::AdminReply;
using intake::AdminRequest;
using intake::AdminRoute;
using intake::AdminServer;
using intake::AdminStream;

// Holds whoever waits until it is opened.
class Gate {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void AwaitWaiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, count] { return waiting_ >= count; });
  }
  void Open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

AdminReply Text(std::string body) {
  AdminReply reply;
  reply.content_type = "text/plain";
  reply.body = std::move(body);
  return reply;
}

struct Server {
  explicit Server(int max_connections = 1024)
      : admin({"127.0.0.1", 0, max_connections},
              {[] { return std::string("a_metric 1\n"); },
               [] { return std::vector<intake::ReadinessCondition>{}; }}) {}

  void Add(std::vector<AdminMethod> methods, std::string path, AdminRoute::Match match,
           intake::AdminHandler handler, std::size_t max_body_bytes = 4096) {
    admin.AddRoute({std::move(methods), std::move(path), match, AdminRoute::Runs::kWorker,
                    max_body_bytes, std::move(handler)});
  }
  void Start() { REQUIRE(admin.Start().has_value()); }

  AdminServer admin;
};

std::string Request(std::string_view method, std::string_view target, std::string_view body = {}) {
  std::string text(method);
  text.append(" ").append(target).append(" HTTP/1.1\r\nHost: x\r\n");
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text.append("\r\n").append(body);
}

HttpAnswer Ask(Server& server, std::string_view method, std::string_view target,
               std::string_view body = {}) {
  HttpClient client(server.admin.port());
  REQUIRE(client.Send(Request(method, target, body)));
  return client.Receive(method);
}

TEST_CASE("AdminServer: a handler gets the request and its reply goes out") {
  Server server;
  server.Add({AdminMethod::kGet, AdminMethod::kPut}, "/things/", AdminRoute::Match::kPrefix,
             intake::Answering([](const AdminRequest& request) {
               AdminReply reply = Text(
                   std::string(ToString(request.method)) + "|" + request.path + "|" + request.rest +
                   "|" + request.query + "|" + request.Parameter("b").value_or("-") + "|" +
                   std::string(request.Header("x-name")) + "|" + request.body + "|" + request.peer);
               reply.status = 201;
               reply.headers.emplace_back("etag", "\"1\"");
               return reply;
             }));
  server.Start();
  HttpClient client(server.admin.port());
  REQUIRE(
      client.Send("PUT /things/a%2Fb+c?a=1&b=%20x HTTP/1.1\r\nX-Name: who\r\n"
                  "Content-Length: 4\r\n\r\nbody"));
  HttpAnswer answer = client.Receive("PUT");
  CHECK(answer.status == 201);
  CHECK(answer.reason == "Created");
  CHECK(answer.headers["etag"] == "\"1\"");
  CHECK(answer.headers["cache-control"] == "no-store");
  CHECK(answer.body == "PUT|/things/a%2Fb+c|a/b+c|a=1&b=%20x| x|who|body|127.0.0.1");
  REQUIRE(client.Send(Request("HEAD", "/things/z")));  // the same connection
  answer = client.Receive("HEAD");
  CHECK(answer.headers["content-length"] == "30");
  REQUIRE(client.Send(Request("GET", "/things/z")));
  CHECK(client.Receive("GET").body == "GET|/things/z|z||-|||127.0.0.1");
}

TEST_CASE("AdminServer: an unknown path lists the routes, a wrong method what is allowed") {
  Server server;
  const auto handler = intake::Answering([](const AdminRequest&) { return Text("x"); });
  server.Add({AdminMethod::kGet}, "/things", AdminRoute::Match::kExact, handler);
  server.Add({AdminMethod::kPost}, "/things", AdminRoute::Match::kExact, handler);
  server.Add({AdminMethod::kDelete}, "/things/", AdminRoute::Match::kPrefix, handler);
  server.Start();
  HttpAnswer answer = Ask(server, "GET", "/nope");
  CHECK(answer.status == 404);
  CHECK(answer.body == "Here are /metrics, /healthz, /readyz, /things and /things/….\n");
  CHECK(Ask(server, "GET", "/things/").status == 404);
  answer = Ask(server, "PUT", "/things");
  CHECK(answer.status == 405);
  CHECK(answer.headers["allow"] == "GET,HEAD,POST");
  CHECK(Ask(server, "DELETE", "/things/x").status == 200);
  CHECK(Ask(server, "POST", "/things").status == 200);
  CHECK(Ask(server, "BREW", "/things/x").headers["allow"] == "DELETE");
}

TEST_CASE("AdminServer: a body above the route's bound is 413, declared or chunked") {
  Server server;
  server.Add({AdminMethod::kPut}, "/small", AdminRoute::Match::kExact,
             intake::Answering([](const AdminRequest& request) { return Text(request.body); }), 8);
  server.Start();
  CHECK(Ask(server, "PUT", "/small", "12345678").body == "12345678");
  CHECK(Ask(server, "PUT", "/small", "123456789").status == 413);
  HttpClient client(server.admin.port());
  REQUIRE(
      client.Send("PUT /small HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "5\r\n12345\r\n5\r\n12345\r\n0\r\n\r\n"));
  CHECK(client.Receive().status == 413);
  CHECK(client.IsClosed());
}

TEST_CASE("AdminServer: a peer that asks whether to send its body is told to") {
  Server server;
  server.Add({AdminMethod::kPut}, "/x", AdminRoute::Match::kExact,
             intake::Answering([](const AdminRequest& request) { return Text(request.body); }));
  server.Start();
  HttpClient client(server.admin.port());
  REQUIRE(client.Send("PUT /x HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
  CHECK(client.Receive().status == 100);
  REQUIRE(client.Send("ab"));
  CHECK(client.Receive().body == "ab");
}

TEST_CASE("AdminServer: what is no HTTP is told so and closed") {
  Server server;
  server.Start();
  HttpClient client(server.admin.port());
  REQUIRE(client.Send("nonsense\r\n\r\n"));
  CHECK(client.Receive().status == 400);
  CHECK(client.IsClosed());
}

TEST_CASE("AdminServer: a handler that throws or never answers is 500") {
  Server server;
  server.Add({AdminMethod::kGet}, "/throws", AdminRoute::Match::kExact,
             [](const AdminRequest&, const AdminAnswer&) { throw std::runtime_error("no"); });
  server.Add({AdminMethod::kGet}, "/forgets", AdminRoute::Match::kExact,
             [](const AdminRequest&, const AdminAnswer&) {});
  server.Start();
  CHECK(Ask(server, "GET", "/throws").status == 500);
  CHECK(Ask(server, "GET", "/forgets").status == 500);
  CHECK(Ask(server, "GET", "/healthz").status == 200);
}

TEST_CASE("AdminServer: health and metrics answer while all workers hang") {
  Server server;
  Gate gate;
  server.Add({AdminMethod::kGet}, "/hangs", AdminRoute::Match::kExact,
             intake::Answering([&gate](const AdminRequest&) {
               gate.Wait();
               return Text("done");
             }));
  server.Start();
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 12; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server.admin.port()));
    REQUIRE(clients.back()->Send(Request("GET", "/hangs")));
  }
  gate.AwaitWaiting(4);
  CHECK(Ask(server, "GET", "/healthz").status == 200);
  CHECK(Ask(server, "GET", "/metrics").status == 200);
  CHECK(Ask(server, "GET", "/readyz").status == 200);
  gate.Open();
  for (auto& client : clients) CHECK(client->Receive().body == "done");
}

TEST_CASE("AdminServer: an answer may come from any thread, and after the server has gone") {
  auto server = std::make_unique<Server>();
  std::mutex mutex;
  std::vector<AdminAnswer> kept;
  Gate gate;
  server->Add({AdminMethod::kGet}, "/later", AdminRoute::Match::kExact,
              [&](const AdminRequest& request, const AdminAnswer& answer) {
                if (request.query == "keep") {
                  std::lock_guard lock(mutex);
                  kept.push_back(answer);
                  gate.Open();
                } else {
                  std::thread([answer] { answer(Text("from afar")); }).detach();
                }
              });
  server->Start();
  CHECK(Ask(*server, "GET", "/later").body == "from afar");
  HttpClient client(server->admin.port());
  REQUIRE(client.Send(Request("GET", "/later?keep")));
  gate.Wait();
  server.reset();
  std::lock_guard lock(mutex);
  REQUIRE(kept.size() == 1);
  kept.front()(Text("too late"));
  CHECK(client.IsClosed());
}

TEST_CASE("AdminServer: when full the connection that idles longest makes room") {
  Server server(16);
  server.Start();
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 16 + 32; ++i) {
    idle.push_back(std::make_unique<HttpClient>(server.admin.port()));
    REQUIRE(idle.back()->Send("GET /healthz HT"));  // a stranger that never ends its head
  }
  CHECK(Ask(server, "GET", "/healthz").status == 200);
  CHECK(idle.front()->IsClosed());
  REQUIRE(idle.back()->Send("TP/1.1\r\n\r\n"));
  CHECK(idle.back()->Receive().status == 200);
}

TEST_CASE("AdminServer: when all connections are busy the last few still serve health") {
  Server server(16);
  Gate gate;
  server.Add({AdminMethod::kGet}, "/hangs", AdminRoute::Match::kExact,
             intake::Answering([&gate](const AdminRequest&) {
               gate.Wait();
               return Text("done");
             }));
  server.Start();
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server.admin.port()));
    REQUIRE(clients.back()->Send(Request("GET", "/hangs")));
  }
  gate.AwaitWaiting(4);
  const HttpAnswer refused = Ask(server, "GET", "/hangs");
  CHECK(refused.status == 503);
  CHECK(refused.headers.at("retry-after") == "1");
  CHECK(Ask(server, "GET", "/healthz").status == 200);
  gate.Open();
  for (auto& client : clients) CHECK(client->Receive().body == "done");
}

struct StreamingServer : Server {
  explicit StreamingServer(std::size_t buffer_bytes)
      : stream(std::make_shared<AdminStream>(buffer_bytes)) {
    Add({AdminMethod::kGet}, "/follow", AdminRoute::Match::kExact,
        intake::Answering([this](const AdminRequest&) {
          AdminReply reply;
          reply.content_type = "text/event-stream";
          reply.stream = stream;
          return reply;
        }));
    Start();
  }
  std::shared_ptr<AdminStream> stream;
};

TEST_CASE("AdminServer: a stream sends what is pushed from other threads, in order, to its end") {
  StreamingServer server(1u << 20);
  HttpClient client(server.admin.port());
  CHECK(server.stream->Push("data: early\n\n") == AdminStream::Pushed::kTaken);
  REQUIRE(client.Send(Request("GET", "/follow")));
  std::thread pusher([&server] {
    for (int i = 0; i < 1000; ++i) {
      while (server.stream->Push("data: " + std::to_string(i) + "\n\n") !=
             AdminStream::Pushed::kTaken) {
      }
    }
    server.stream->Close();
  });
  const std::string all = client.ReceiveAll();
  pusher.join();
  CHECK(all.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  CHECK(all.find("Content-Type: text/event-stream\r\n") != std::string::npos);
  std::size_t at = all.find("data: early\n\n");
  for (int i = 0; i < 1000 && at != std::string::npos; ++i) {
    at = all.find("data: " + std::to_string(i) + "\n\n", at);
  }
  CHECK(at != std::string::npos);
  CHECK(all.ends_with("0\r\n\r\n"));
  CHECK(server.stream->Push("x") == AdminStream::Pushed::kClosed);
}

TEST_CASE("AdminServer: a stream whose peer went away is closed for its pusher") {
  StreamingServer server(1u << 20);
  {
    HttpClient client(server.admin.port());
    REQUIRE(client.Send(Request("GET", "/follow")));
    CHECK(server.stream->Push("hello") == AdminStream::Pushed::kTaken);
  }
  while (!server.stream->closed()) std::this_thread::yield();  // ctest's time-out is the failure
  CHECK(server.stream->Push("x") == AdminStream::Pushed::kClosed);
}

TEST_CASE("AdminStream: what does not fit is dropped and counted") {
  AdminStream stream(8);
  CHECK(stream.Push("12345") == AdminStream::Pushed::kTaken);
  CHECK(stream.Push("6789") == AdminStream::Pushed::kDropped);
  CHECK(stream.Push("678") == AdminStream::Pushed::kTaken);
  CHECK(stream.dropped() == 1);
  CHECK(stream.Take().bytes == "12345678");
  stream.Close();
  CHECK(stream.Take().last);
}

}  // namespace
}  // namespace sluice::test
