#include "intake/admin_declared.h"
#include "support/temp_folder.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "intake/admin_server.h"
#include "support/http_client.h"

namespace sluice::test {
namespace {

constexpr std::string_view kToken = "a token of the instrument tool";
constexpr std::string_view kLoan = R"({"settings":{"schema_title":"library/loan"}})";

// A file whose disk can be made to fail.
class FailingFile final : public streams::DurableFile {
 public:
  explicit FailingFile(std::atomic<int>& error) : error_(error) {}
  int Load(std::string* content) override {
    content->clear();
    return 0;
  }
  int Append(std::string_view) override { return error_; }
  int Replace(std::string_view) override { return error_; }
  int KeepCopy(const std::string&) override { return 0; }

 private:
  std::atomic<int>& error_;
};

core::StreamOptions Streams() {
  core::StreamOptions options;
  options.inline_config = R"({"static.one":{"schema_title":"library/loan"},
                              "/^job\\..+/":{"schema_title":"library/loan"}})";
  return options;
}

// Declared streams on an admin listener, as the daemon puts them together.
struct World {
  explicit World(std::size_t max_streams = 10000) {
    tokens = std::make_unique<intake::AdminTokens>(
        folder.Write("tokens", "- {name: tool, token: " + std::string(kToken) +
                                   ", streams: [\"a.*\", \"static.*\", \"job.*\"]}"));
    REQUIRE(tokens->Load().has_value());
    REQUIRE(registry.Load().has_value());
    store = std::make_unique<streams::DeclaredStore>(streams::DeclaredStore::Parts{
        clock, std::make_unique<FailingFile>(disk_error), std::make_unique<FailingFile>(no_error),
        [this](std::vector<streams::DeclaredStream> declared) {
          return registry.SetDeclared(std::move(declared));
        },
        [this](std::string_view stream) -> std::optional<std::string> {
          const auto snapshot = registry.Current();
          const auto* entry = snapshot->Find(stream);
          if (!entry || entry->declared) return std::nullopt;
          return entry->key;
        },
        max_streams});
    REQUIRE(store->Start().has_value());
    routes = std::make_unique<intake::DeclaredRoutes>(
        intake::DeclaredRoutes::Parts{*store, *tokens, clock, [this] { return registry.Current(); },
                                      [this](const std::string& title) -> core::Result<void> {
                                        if (schema_error != core::ErrorCode::kInternal)
                                          return core::Error{schema_error, "no schema " + title};
                                        return {};
                                      },
                                      "", 65536});
    for (auto& route : routes->Routes()) admin.AddRoute(std::move(route));
    REQUIRE(admin.Start().has_value());
  }
  ~World() {
    admin.Stop();
    store->Stop();
  }

  static std::string Request(std::string_view method, const std::string& name,
                             std::string_view body, std::string_view headers = {}) {
    std::string text(method);
    text += " /v1/streams" + (name.empty() ? "" : "/" + name) + " HTTP/1.1\r\n";
    text += "Authorization: Bearer " + std::string(kToken) + "\r\n" + std::string(headers);
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    return text.append(body);
  }
  HttpAnswer Ask(std::string_view method, const std::string& name, std::string_view body = {},
                 std::string_view headers = {}) {
    HttpClient client(admin.port());
    REQUIRE(client.Send(Request(method, name, body, headers)));
    return client.Receive(method);
  }

  test::TempFolder folder;
  core::SystemClock clock;
  std::atomic<int> disk_error{0};
  std::atomic<int> no_error{0};
  core::ErrorCode schema_error = core::ErrorCode::kInternal;  // kInternal: there is a schema
  streams::StreamRegistry registry{Streams()};
  std::unique_ptr<intake::AdminTokens> tokens;
  std::unique_ptr<streams::DeclaredStore> store;
  std::unique_ptr<intake::DeclaredRoutes> routes;
  intake::AdminServer admin{
      {"127.0.0.1", 0},
      {[] { return std::string(); }, [] { return std::vector<intake::ReadinessCondition>{}; }}};
};

TEST_CASE("DeclaredRoutes: a disk that is full or broken is 507 or 503, and nothing is changed") {
  World world;
  CHECK(world.Ask("PUT", "a.kept", kLoan).status == 201);
  world.disk_error = ENOSPC;
  HttpAnswer answer = world.Ask("PUT", "a.b", kLoan);
  CHECK(answer.status == 507);
  CHECK(answer.body.find("nothing was changed") != std::string::npos);
  CHECK(world.Ask("DELETE", "a.kept").status == 507);
  world.disk_error = EIO;
  answer = world.Ask("PUT", "a.b", kLoan);
  CHECK(answer.status == 503);
  CHECK(answer.headers.contains("retry-after"));
  CHECK(world.registry.Current()->Find("a.b") == nullptr);
  CHECK(world.registry.Current()->Find("a.kept") != nullptr);
  CHECK(world.Ask("GET", "a.b").status == 404);
  world.disk_error = 0;
  CHECK(world.Ask("PUT", "a.b", kLoan).status == 201);
  CHECK(world.registry.Current()->Find("a.b") != nullptr);
}

TEST_CASE(
    "DeclaredRoutes: a schema that cannot be looked at now is 503, one that is not there 400") {
  World world;
  world.schema_error = core::ErrorCode::kSchemaUnavailable;
  CHECK(world.Ask("PUT", "a.b", kLoan).status == 503);
  world.schema_error = core::ErrorCode::kSchemaNotFound;
  CHECK(world.Ask("PUT", "a.b", kLoan).status == 400);
  // With other faults in it a retry cannot help.
  world.schema_error = core::ErrorCode::kSchemaUnavailable;
  const HttpAnswer answer =
      world.Ask("PUT", "a.b", R"({"settings":{"schema_title":"library/loan","topics":7}})");
  CHECK(answer.status == 400);
  CHECK(boost::json::parse(answer.body).at("reasons").as_array().size() == 2);
}

TEST_CASE("DeclaredRoutes: above max_streams 507, and the setting is named") {
  World world(1);
  CHECK(world.Ask("PUT", "a.b", kLoan).status == 201);
  const HttpAnswer answer = world.Ask("PUT", "a.c", kLoan);
  CHECK(answer.status == 507);
  CHECK(answer.body.find("declared_streams.max_streams") != std::string::npos);
}

TEST_CASE("DeclaredRoutes: static names, regular expressions included, are never overridden") {
  World world;
  CHECK(world.Ask("PUT", "static.one", kLoan).status == 409);
  CHECK(world.Ask("PUT", "job.x", kLoan).status == 409);
  CHECK(world.Ask("GET", "static.one").status == 200);
  CHECK(world.Ask("GET", "job.x").status == 404);
}

TEST_CASE("DeclaredRoutes: conditions that cannot be held are told") {
  World world;
  CHECK(world.Ask("PUT", "a.b", kLoan, "If-None-Match: \"v1\"\r\n").status == 400);
  CHECK(world.Ask("PUT", "a.b", kLoan, "If-None-Match: *\r\nIf-Match: *\r\n").status == 400);
  CHECK(world.Ask("PUT", "a.b", kLoan, "If-Match: \"v1\"\r\n").status == 412);
  const HttpAnswer made = world.Ask("PUT", "a.b", kLoan);
  CHECK(made.headers.at("etag") == "\"v1\"");
  for (const char* stale :
       {"\"v2\"", "W/\"v1\"", "\"1\"", "v1", "\"v1", "\"v\"", "\"v01x\"", ","}) {
    CHECK_MESSAGE(
        world.Ask("DELETE", "a.b", {}, "If-Match: " + std::string(stale) + "\r\n").status == 412,
        stale);
  }
  CHECK(world.Ask("DELETE", "a.b", {}, "If-Match: \"v7\" , \"v1\"\r\n").status == 204);
}

TEST_CASE("DeclaredRoutes: many tools at once, each answer is true when it comes") {
  World world;
  constexpr int kThreads = 8;
  constexpr int kEach = 25;
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&world, &good, t] {
      HttpClient client(world.admin.port());
      const auto ask = [&](std::string_view method, const std::string& name,
                           std::string_view body = {}) {
        client.Send(World::Request(method, name, body));
        return client.Receive(method).status;
      };
      for (int i = 0; i < kEach; ++i) {
        const std::string name = "a." + std::to_string(t) + "." + std::to_string(i);
        const bool made = ask("PUT", name, kLoan) == 201;
        const bool there = world.registry.Current()->Find(name) != nullptr;
        const bool read = ask("GET", name) == 200;
        const bool kept = i % 2 == 0;
        const bool deleted = kept || ask("DELETE", name) == 204;
        const bool gone = kept || world.registry.Current()->Find(name) == nullptr;
        if (made && there && read && deleted && gone) ++good;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == kThreads * kEach);
  CHECK(world.store->size() == kThreads * ((kEach + 1) / 2));
}

}  // namespace
}  // namespace sluice::test
