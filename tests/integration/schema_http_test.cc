#include <doctest/doctest.h>
#include <zlib.h>

#include <future>
#include <latch>
#include <optional>

#include "integration/schema_http_server.h"
#include "registry/schema_loader.h"
#include "registry/schema_registry.h"
#include "validate/compiled_schema.h"

namespace sluice::registry {
namespace {

constexpr auto Response = &SchemaHttpServer::Response;

std::string Gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) ==
          Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

SchemaLoaderOptions LoaderOptions(std::vector<std::string> bases) {
  SchemaLoaderOptions options;
  options.base_uris = std::move(bases);
  return options;
}

// A registry over remote bases.
struct Bench {
  explicit Bench(std::vector<std::string> bases) { options.base_uris = std::move(bases); }

  SchemaRegistry& Start() {
    registry.emplace(options, metrics);
    const auto started = registry->Start();
    REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
    return *registry;
  }
  core::Result<SchemaPtr> Get(std::string_view uri) {
    std::promise<core::Result<SchemaPtr>> promise;
    registry->Get(uri, [&](core::Result<SchemaPtr> result) { promise.set_value(result); });
    return promise.get_future().get();
  }

  core::SchemaOptions options;
  core::Metrics metrics{core::MetricOptions{}, "test"};
  std::optional<SchemaRegistry> registry;
};

// The port of a server that is gone: nothing listens there.
std::string DeadUrl() {
  const SchemaHttpServer server([](const auto&, const auto&) { return std::string(); });
  return server.url();
}

}  // namespace

TEST_CASE("SchemaLoader: schemas over HTTP, plain, zipped, redirected and linked") {
  const SchemaHttpServer server([](const std::string& target, const std::string& head) {
    if (target == "/repo/plain/1.0.0") return Response(200, "title: plain\n", "");
    if (target == "/repo/zipped/1.0.0") {
      if (head.find("gzip") == std::string::npos) return Response(500, "", "");
      return Response(200, Gzip("title: zipped\n"), "Content-Encoding: gzip\r\n");
    }
    if (target == "/repo/moved/1.0.0") return Response(302, "", "Location: ../plain/1.0.0\r\n");
    if (target == "/repo/circle/1.0.0") return Response(302, "", "Location: 1.0.0\r\n");
    if (target == "/repo/link/latest") return Response(200, "2.0.0.yaml", "");
    if (target == "/repo/link/2.0.0.yaml") return Response(200, "title: linked\n", "");
    if (target == "/repo/a%20b/1.0.0") return Response(200, "title: space\n", "");
    if (target == "/repo/html/1.0.0") return Response(200, "<html></html>", "");
    return Response(404, "no", "");
  });
  SchemaLoader loader(LoaderOptions({server.url() + "/repo/"}));
  CHECK(loader.Load("/plain/1.0.0").value()->title() == "plain");
  CHECK(loader.Load("/zipped/1.0.0").value()->title() == "zipped");
  CHECK(loader.Load("/moved/1.0.0").value() == loader.Load("/plain/1.0.0").value());
  CHECK(loader.Load("/link/latest").value()->title() == "linked");
  CHECK(loader.Load("/a b/1.0.0").value()->title() == "space");

  const auto missing = loader.Load("/missing/1.0.0");
  REQUIRE(missing.has_error());
  CHECK(missing.error().code == core::ErrorCode::kSchemaNotFound);
  const auto circle = loader.Load("/circle/1.0.0");
  REQUIRE(circle.has_error());
  CHECK(circle.error().code == core::ErrorCode::kSchemaUnavailable);
  CHECK(circle.error().message.ends_with(": too many redirects"));
  const auto html = loader.Load("/html/1.0.0");
  REQUIRE(html.has_error());
  CHECK(html.error().code == core::ErrorCode::kSchemaUnusable);
  CHECK(html.error().message.find("a schema has to be an object or a boolean") !=
        std::string::npos);
}

TEST_CASE("SchemaLoader: the next base is asked when one does not have it, or cannot say") {
  const SchemaHttpServer server([](const std::string& target, const std::string&) {
    return target == "/a/1.0.0" ? Response(200, "title: remote\n", "") : Response(404, "", "");
  });
  const std::string dead = DeadUrl();
  SchemaLoader loader(LoaderOptions({dead, server.url()}));
  CHECK(loader.Load("/a/1.0.0").value()->title() == "remote");
  const auto missing = loader.Load("/b/1.0.0");
  REQUIRE(missing.has_error());
  // Not final: the base that is down may have it.
  CHECK(missing.error().code == core::ErrorCode::kSchemaUnavailable);
  CHECK_MESSAGE(missing.error().message.starts_with("Failed loading schema at /b/1.0.0: " + dead +
                                                    "/b/1.0.0: "),
                missing.error().message);
}

TEST_CASE("SchemaLoader: a failing server is asked twice, a missing document once") {
  std::atomic<int> flaky{0};
  const SchemaHttpServer server([&](const std::string& target, const std::string&) {
    if (target == "/down/1.0.0") return Response(503, "", "");
    if (target == "/flaky/1.0.0" && ++flaky == 2) return Response(200, "title: back\n", "");
    return target == "/flaky/1.0.0" ? Response(500, "", "") : Response(404, "", "");
  });
  SchemaLoader loader(LoaderOptions({server.url()}));
  const auto down = loader.Load("/down/1.0.0");
  REQUIRE(down.has_error());
  CHECK(down.error().code == core::ErrorCode::kSchemaUnavailable);
  CHECK(down.error().message.ends_with(": answered 503"));
  CHECK(server.requests("/down/1.0.0") == 2);
  CHECK(loader.Load("/flaky/1.0.0").value()->title() == "back");
  CHECK(loader.Load("/missing/1.0.0").has_error());
  CHECK(server.requests("/missing/1.0.0") == 1);
}

TEST_CASE("SchemaLoader: a body above the bound is refused, also one that grows when unzipped") {
  const SchemaHttpServer server([](const std::string& target, const std::string&) {
    const std::string big(17u << 20, ' ');
    if (target == "/big") return Response(200, big, "");
    return Response(200, Gzip(big), "Content-Encoding: gzip\r\n");
  });
  SchemaLoader loader(LoaderOptions({server.url()}));
  for (const char* uri : {"/big", "/bomb"}) {
    const auto result = loader.Load(uri);
    REQUIRE(result.has_error());
    CHECK(result.error().code == core::ErrorCode::kSchemaUnavailable);
  }
}

TEST_CASE("SchemaRegistry: one request over HTTP however many wait") {
  std::promise<void> open;
  const auto gate = open.get_future().share();
  const SchemaHttpServer server([gate](const std::string&, const std::string&) {
    gate.wait();
    return Response(200, "title: a\n", "");
  });
  Bench bench({server.url()});
  SchemaRegistry& registry = bench.Start();
  constexpr int kWaiting = 100;
  std::latch answered(kWaiting);
  std::atomic<int> good{0};
  for (int i = 0; i < kWaiting; ++i) {
    registry.Get("/a/1.0.0", [&](core::Result<SchemaPtr> result) {
      if (result) ++good;
      answered.count_down();
    });
  }
  CHECK(registry.stats().waiting == kWaiting);
  open.set_value();
  answered.wait();
  CHECK(good == kWaiting);
  CHECK(server.requests("/a/1.0.0") == 1);
}

TEST_CASE("SchemaHttpServer: a client that sends nothing does not hold up its end") {
  boost::asio::io_context io;
  boost::asio::ip::tcp::socket silent(io);
  {
    const SchemaHttpServer server([](const auto&, const auto&) { return std::string(); });
    silent.connect(server.endpoint());
  }
  CHECK(silent.is_open());
}

TEST_CASE("SchemaRegistry: a slow server holds up neither others nor longer than the time-out") {
  std::promise<void> open;
  const auto gate = open.get_future().share();
  {
    const SchemaHttpServer server([gate](const std::string& target, const std::string&) {
      if (target == "/slow/1.0.0") gate.wait();
      return target == "/slow/1.0.0" ? std::string() : Response(200, "title: quick\n", "");
    });
    Bench bench({server.url()});
    bench.options.fetch_timeout = std::chrono::milliseconds(700);
    SchemaRegistry& registry = bench.Start();
    std::promise<core::Result<SchemaPtr>> slow;
    registry.Get("/slow/1.0.0", [&](core::Result<SchemaPtr> result) { slow.set_value(result); });
    CHECK(bench.Get("/quick/1.0.0").has_value());
    const auto result = slow.get_future().get();
    REQUIRE(result.has_error());
    CHECK(result.error().code == core::ErrorCode::kSchemaUnavailable);
    CHECK(result.error().message.ends_with("timed out"));
    open.set_value();
  }
}

TEST_CASE("SchemaRegistry: an outage takes no schema away, and stop does not wait for a fetch") {
  std::promise<void> open;
  const auto gate = open.get_future().share();
  std::optional<SchemaHttpServer> server;
  server.emplace([gate](const std::string& target, const std::string&) {
    if (target == "/held/1.0.0") gate.wait();
    return Response(200, "title: a\n", "");
  });
  Bench bench({server->url()});
  bench.options.negative_ttl = std::chrono::milliseconds(0);
  SchemaRegistry& registry = bench.Start();
  const auto schema = bench.Get("/a/1.0.0").value();
  std::promise<core::Result<SchemaPtr>> held;
  registry.Get("/held/1.0.0", [&](core::Result<SchemaPtr> result) { held.set_value(result); });
  registry.Stop();
  CHECK(held.get_future().get().error().code == core::ErrorCode::kShuttingDown);
  open.set_value();
  server.reset();
  CHECK(bench.Get("/a/1.0.0").value() == schema);
}

TEST_CASE("SchemaRegistry: absolute URIs are fetched only where that is allowed") {
  const SchemaHttpServer server(
      [](const std::string&, const std::string&) { return Response(200, "title: far\n", ""); });
  const std::string uri = server.url() + "/x/1.0.0";
  Bench refused({});
  refused.Start();
  const auto error = refused.Get(uri);
  REQUIRE(error.has_error());
  CHECK(error.error().message ==
        "Absolute schema URIs are not allowed but event schema_uri is " + uri);
  CHECK(server.requests("/x/1.0.0") == 0);
  Bench allowed({});
  allowed.options.allow_absolute_uris = true;
  allowed.Start();
  CHECK(allowed.Get(uri).value()->title() == "far");
}

}  // namespace sluice::registry
