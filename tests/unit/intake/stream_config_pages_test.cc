#include "intake/stream_config_pages.h"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

using namespace sluice;
using namespace sluice::intake;

namespace {

// A registry of `count` streams.
std::unique_ptr<streams::StreamRegistry> Registry(int count) {
  core::StreamOptions options;
  options.inline_config = "{";
  for (int i = 0; i < count; ++i) {
    if (i > 0) options.inline_config += ',';
    options.inline_config += "\"s" + std::to_string(i) + R"(":{"schema_title":"x","n":)" +
                             std::to_string(i % 2) + ",\"text\":\"" + std::string(200, 'x') + "\"}";
  }
  options.inline_config += '}';
  auto registry = std::make_unique<streams::StreamRegistry>(options);
  REQUIRE(registry->Load().has_value());
  return registry;
}

streams::StreamQuery Query(const std::string& constraints) {
  return streams::ReadStreamQuery({{"action", "streamconfigs"}, {"constraints", constraints}})
      .query;
}

// Waits for the document, whichever way it comes.
DocumentPtr Await(StreamConfigPages& pages, const streams::StreamQuery& query) {
  auto promise = std::make_shared<std::promise<DocumentPtr>>();
  auto document = pages.Get(streams::ServedAs::kApi, query,
                            [promise](DocumentPtr made) { promise->set_value(std::move(made)); });
  return document ? document : promise->get_future().get();
}

void Never(const DocumentPtr&) { FAIL("was not to be called"); }

}  // namespace

TEST_CASE("StreamConfigPages: of few streams at once, made once for each snapshot") {
  const auto registry = Registry(10);
  StreamConfigPages pages(*registry, 3);
  const auto all = pages.Get(streams::ServedAs::kApi, {}, Never);
  REQUIRE(all);
  CHECK(all->body.starts_with(R"({"streams":{"s0":{"schema_title":"x","n":0,)"));
  CHECK(all->gzip.size() < all->body.size() / 4);
  CHECK(pages.Get(streams::ServedAs::kApi, {}, Never) == all);
  const auto read = pages.Get(streams::ServedAs::kAsRead, {}, Never);
  CHECK(read->body.starts_with(R"({"s0":{"schema_title")"));
  CHECK(pages.Get(streams::ServedAs::kApi, Query("n=1"), Never)->body.size() < all->body.size());
  REQUIRE(registry->SetDeclared({{"declared", R"({"schema_title":"x","n":1})"}}).has_value());
  const auto later = pages.Get(streams::ServedAs::kApi, {}, Never);
  CHECK(later->body.find("\"declared\"") != std::string::npos);
  CHECK(later->etag != all->etag);
}

TEST_CASE("StreamConfigPages: without compression there is no second form") {
  const auto registry = Registry(10);
  StreamConfigPages pages(*registry, 0);
  CHECK(pages.Get(streams::ServedAs::kApi, {}, Never)->gzip.empty());
}

TEST_CASE("StreamConfigPages: of many streams on another thread, once for all who wait") {
  const auto registry = Registry(3000);
  StreamConfigPages pages(*registry, 3);
  std::vector<DocumentPtr> documents(8);
  std::vector<std::thread> threads;
  for (auto& document : documents) {
    threads.emplace_back([&] { document = Await(pages, Query("n=1")); });
  }
  for (auto& thread : threads) thread.join();
  REQUIRE(documents[0]);
  for (const auto& document : documents) CHECK(document == documents[0]);
  CHECK(pages.Get(streams::ServedAs::kApi, Query("n=1"), Never) == documents[0]);
  CHECK(documents[0]->body.find("\"s1\"") != std::string::npos);
  CHECK(documents[0]->body.find("\"s2\"") == std::string::npos);
}

TEST_CASE("StreamConfigPages: while snapshots change everyone gets one that is whole") {
  const auto registry = Registry(1000);
  StreamConfigPages pages(*registry, 0);
  std::thread changing([&] {
    for (int i = 0; i < 50; ++i) {
      const std::string settings = R"({"schema_title":"x","round":)" + std::to_string(i) + "}";
      REQUIRE(registry->SetDeclared({{"d1", settings}, {"d2", settings}}).has_value());
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto document = Await(pages, {});
    REQUIRE(document);
    const auto round_of = [&](const std::string& name) {
      const std::size_t at = document->body.find("\"" + name + "\"");
      return at == std::string::npos ? std::string()
                                     : document->body.substr(document->body.find("round", at), 10);
    };
    CHECK(round_of("d1") == round_of("d2"));
  }
  changing.join();
}

TEST_CASE("StreamConfigPages: a stop tells those who wait") {
  const auto registry = Registry(3000);
  StreamConfigPages pages(*registry, 3);
  std::vector<std::future<DocumentPtr>> answers;
  for (int i = 0; i < 20; ++i) {
    auto promise = std::make_shared<std::promise<DocumentPtr>>();
    answers.push_back(promise->get_future());
    CHECK_FALSE(pages.Get(streams::ServedAs::kApi, Query("n=" + std::to_string(i)),
                          [promise](DocumentPtr made) { promise->set_value(std::move(made)); }));
  }
  pages.Stop();
  int told = 0;
  for (auto& answer : answers) told += answer.get() ? 0 : 1;
  CHECK(told > 0);
}

TEST_CASE("EntityTag: of the bytes; compared weakly") {
  CHECK(EntityTag("a") == EntityTag(std::string("a")));
  CHECK(EntityTag("a") != EntityTag("b"));
  CHECK(HasEntityTag("*", R"(W/"1")"));
  CHECK(HasEntityTag(R"("0", W/"1")", R"(W/"1")"));
  CHECK(HasEntityTag(R"("1")", R"(W/"1")"));
  CHECK_FALSE(HasEntityTag(R"("11")", R"(W/"1")"));
  CHECK_FALSE(HasEntityTag("", R"(W/"1")"));
}
