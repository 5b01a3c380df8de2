#include "streams/stream_updater.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/log.h"
#include "streams/config_copy.h"
#include "support/captured_stderr.h"
#include "support/temp_folder.h"

namespace sluice::streams {
namespace {

using std::chrono::seconds;
using Reply = fetch::HttpReply;

constexpr const char* kUrl = "http://config.invalid/w/api.php?action=streamconfigs";
constexpr const char* kOne = R"({"streams":{"a":{"schema_title":"one"},"b":{"schema_title":"b"}}})";
constexpr const char* kTwo = R"({"streams":{"a":{"schema_title":"two"},"b":{"schema_title":"b"}}})";

class SetClock final : public core::Clock {
 public:
  std::chrono::system_clock::time_point Now() const override {
    return std::chrono::system_clock::time_point(seconds(now_.load()));
  }
  void Set(std::int64_t now) { now_ = now; }

 private:
  std::atomic<std::int64_t> now_{1000000};
};

Reply Good(std::string body) {
  Reply reply;
  reply.status = 200;
  reply.body = std::move(body);
  return reply;
}

Reply WithStatus(int status) {
  Reply reply;
  reply.status = status;
  return reply;
}

Reply Broken(std::string error) {
  Reply reply;
  reply.error = std::move(error);
  return reply;
}

// An updater whose remote source answers from a script; the last answer stands for ever.
struct Fixture {
  test::TempFolder folder;
  core::StreamOptions options;
  core::Metrics metrics{{}, "test"};
  SetClock clock;
  std::atomic<std::int64_t> steady{0};  // seconds
  std::mutex mutex;
  std::deque<Reply> script;
  std::vector<fetch::HttpRequest> asked;
  std::unique_ptr<StreamRegistry> registry;
  std::unique_ptr<StreamUpdater> updater;

  Fixture() {
    core::LogOptions log;
    log.per_kind_per_second = 1000000;
    core::ConfigureLog(log);
    options.config_uri = kUrl;
    options.config_object_path = "streams";
    options.config_retries = 0;
  }

  std::string copy_path() const { return folder.path() + "/data/stream-config.json"; }

  void Answer(Reply reply) {
    const std::lock_guard lock(mutex);
    script = {std::move(reply)};
  }

  core::Result<void> Start() {
    updater.reset();
    registry = std::make_unique<StreamRegistry>(options);
    updater = std::make_unique<StreamUpdater>(StreamUpdater::Parts{
        options, *registry, metrics, clock, copy_path(), "test",
        [this](fetch::HttpRequest request, std::function<void(Reply)> done) {
          Reply reply;
          {
            const std::lock_guard lock(mutex);
            asked.push_back(std::move(request));
            reply = script.front();
            if (script.size() > 1) script.pop_front();
          }
          done(std::move(reply));
        },
        std::chrono::milliseconds(0),
        [this] { return std::chrono::steady_clock::time_point(seconds(steady.load())); }});
    return updater->Start();
  }

  std::string Title(std::string_view stream = "a") const {
    const auto snapshot = registry->Current();
    const StreamSettings* settings = snapshot ? snapshot->Find(stream) : nullptr;
    return settings ? settings->schema_title.value_or("untitled") : "none";
  }

  // The value of the metric's line that begins like this.
  std::string Metric(const std::string& begin) {
    std::istringstream lines(metrics.Scrape());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(begin)) return line.substr(line.rfind(' ') + 1);
    }
    return "none";
  }
};

std::size_t CountOf(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

std::optional<std::string> HeaderOf(const fetch::HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return std::nullopt;
}

// Until `done`, for what the updater notices by itself.
template <class Done>
bool Within(seconds limit, Done done) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

TEST_CASE("StreamUpdater: reads at start, swaps what changed, leaves what did not") {
  Fixture f;
  f.Answer(Good(kOne));
  REQUIRE(f.Start().has_value());
  CHECK(f.Title() == "one");
  CHECK(f.updater->Detail().empty());
  const auto first = f.registry->Current();
  f.updater->RefreshAndWait();
  CHECK(f.registry->Current() == first);
  f.Answer(Good(kTwo));
  f.clock.Set(1000500);
  f.updater->RefreshAndWait();
  CHECK(f.Title() == "two");
  CHECK(first->Find("a")->schema_title == "one");
  CHECK(f.registry->generation() == 2);
  const std::string readings = "sluice_stream_config_readings_total";
  CHECK(f.Metric(readings + R"({outcome="changed",reason="none"})") == "2");
  CHECK(f.Metric(readings + R"({outcome="unchanged",reason="none"})") == "1");
  CHECK(f.Metric("sluice_stream_config_streams ") == "2");
  CHECK(f.Metric("sluice_stream_config_last_success_timestamp_seconds ") == "1000500");
  CHECK(f.Metric("sluice_stream_config_copy_age_seconds ") == "0");
}

TEST_CASE("StreamUpdater: whatever is wrong, the streams before stay") {
  struct Row {
    const char* what;
    Reply reply;
    const char* reason;
  };
  Reply page = Good("<!DOCTYPE html><html><body>Sign in</body></html>");
  Reply page_by_type = page;
  page_by_type.content_type = "text/html; charset=utf-8";
  const Row rows[] = {
      {"slow", Broken("timed out"), "fetch"},
      {"cut, and its length known", Broken("receive: partial message"), "fetch"},
      {"500", WithStatus(500), "status"},
      {"304 that was not asked for", WithStatus(304), "status"},
      {"404", WithStatus(404), "status"},
      {"a page", page, "content"},
      {"a page that says so", page_by_type, "content"},
      {"MediaWiki's error", Good(R"({"error":{"code":"internal_api_error","info":"x"}})"),
       "content"},
      {"an error beside streams", Good(R"({"error":{},"streams":{"a":{}}})"), "content"},
      {"cut, and its length not known", Good(std::string(kTwo).substr(0, 40)), "content"},
      {"nothing", Good(""), "content"},
      {"no streams", Good(R"({"streams":{}})"), "content"},
      {"no object path", Good("{}"), "content"},
      {"a bad regex", Good(R"({"streams":{"a":{"schema_title":"two"},"/(/":{}}})"), "content"},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.what));
    Fixture f;
    f.Answer(Good(kOne));
    REQUIRE(f.Start().has_value());
    const auto before = f.registry->Current();
    f.clock.Set(1000900);
    f.Answer(row.reply);
    f.updater->RefreshAndWait();
    CHECK(f.registry->Current() == before);
    CHECK(f.Metric("sluice_stream_config_readings_total{outcome=\"failed\",reason=\"" +
                   std::string(row.reason) + "\"}") == "1");
    CHECK(f.Metric("sluice_stream_config_last_success_timestamp_seconds ") == "1000000");
    CHECK(f.updater->Detail().starts_with("in use is what was read until 1970-01-12T13:46:40"));
    f.Answer(Good(kTwo));
    f.updater->RefreshAndWait();
    CHECK(f.Title() == "two");
    CHECK(f.updater->Detail().empty());
  }
}

TEST_CASE("StreamUpdater: failures are one log line a minute, which counts them") {
  Fixture f;
  f.Answer(Good(kOne));
  REQUIRE(f.Start().has_value());
  f.Answer(WithStatus(500));
  test::CapturedStderr captured;
  for (int i = 0; i < 10; ++i) f.updater->RefreshAndWait();
  f.steady = 59;
  f.updater->RefreshAndWait();
  f.steady = 60;
  f.updater->RefreshAndWait();
  f.steady = 100;
  f.updater->RefreshAndWait();
  f.Answer(Good(kOne));
  f.updater->RefreshAndWait();
  const std::string text = captured.Text();
  CHECK(CountOf(text, R"("kind":"stream_config_failed")") == 2);
  CHECK(text.find(R"("failures":1)") < text.find(R"("failures":11)"));
  CHECK(text.find(R"("failures":11)") != std::string::npos);
  CHECK(CountOf(text, "could be read again") == 1);
}

TEST_CASE("StreamUpdater: repeats what failed, as often as it may") {
  Fixture f;
  f.options.config_retries = 2;
  f.script = {Broken("connect: refused"), WithStatus(502), Good(kOne)};
  REQUIRE(f.Start().has_value());
  CHECK(f.asked.size() == 3);
  f.Answer(WithStatus(500));
  f.updater->RefreshAndWait();
  CHECK(f.asked.size() == 6);
  CHECK(f.Metric(R"(sluice_stream_config_readings_total{outcome="failed",reason="status"})") ==
        "1");
}

TEST_CASE("StreamUpdater: asks whether anything changed, by tag or date") {
  Fixture f;
  f.options.config_headers = {{"host", "meta.wiki"}};
  f.options.config_uri += "&streams=a|b";
  Reply tagged = Good(kOne);
  tagged.etag = "\"v1\"";
  tagged.last_modified = "Sat, 01 Aug 2026 00:00:00 GMT";
  f.Answer(tagged);
  REQUIRE(f.Start().has_value());
  REQUIRE(f.asked.size() == 1);
  CHECK(f.asked[0].url == std::string(kUrl) + "&streams=a%7Cb");
  CHECK(HeaderOf(f.asked[0], "host") == "meta.wiki");
  CHECK_FALSE(HeaderOf(f.asked[0], "if-none-match"));
  f.Answer(WithStatus(304));
  f.updater->RefreshAndWait();
  CHECK(HeaderOf(f.asked[1], "if-none-match") == "\"v1\"");
  CHECK(f.updater->Detail().empty());
  Reply dated = Good(kTwo);
  dated.last_modified = tagged.last_modified;
  f.Answer(dated);
  f.updater->RefreshAndWait();
  CHECK(f.Title() == "two");
  f.updater->RefreshAndWait();
  CHECK_FALSE(HeaderOf(f.asked[3], "if-none-match"));
  CHECK(HeaderOf(f.asked[3], "if-modified-since") == tagged.last_modified);
}

TEST_CASE("StreamUpdater: a file that changes is read though the remote source did not change") {
  Fixture f;
  f.options.config_files = {f.folder.Write("s.yaml", "c: {schema_title: one}\n")};
  Reply tagged = Good(kOne);
  tagged.etag = "\"v1\"";
  f.Answer(tagged);
  REQUIRE(f.Start().has_value());
  CHECK(f.Title("c") == "one");
  f.folder.Write("s.yaml", "c: {schema_title: two}\n");
  f.updater->RefreshAndWait();
  CHECK(f.Title("c") == "two");
  const std::lock_guard lock(f.mutex);
  CHECK_FALSE(HeaderOf(f.asked[1], "if-none-match"));
}

TEST_CASE("StreamUpdater: a start without sources takes the last good copy") {
  Fixture f;
  f.options.default_settings = R"({"topic_prefixes":["x."],"canary_events_enabled":true})";
  f.Answer(Good(R"({"streams":{"a":{"schema_title":"one","topic_prefixes":null},"n":null,)"
                R"("/^r\\./":{"schema_title":"r"}}})"));
  REQUIRE(f.Start().has_value());
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < 3; ++i)
    settings.push_back(f.registry->Current()->entry(i).settings_json);
  f.clock.Set(1000060);
  f.Answer(Broken("connect: Connection refused"));
  test::CapturedStderr captured;
  REQUIRE(f.Start().has_value());
  CHECK(CountOf(captured.Text(), R"("kind":"stream_config_from_copy")") == 1);
  const auto snapshot = f.registry->Current();
  REQUIRE(snapshot->size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(snapshot->entry(i).settings_json == settings[i]);
  CHECK(f.Title("r.x") == "r");
  CHECK(f.updater->state().from_copy);
  CHECK(f.updater->Detail() ==
        "in use is the copy of 1970-01-12T13:46:40.000Z, since reading fails: stream_config_uri " +
            f.options.config_uri + ": connect: Connection refused");

  f.Answer(Good(kTwo));
  f.updater->RefreshAndWait();
  CHECK(f.Title() == "two");
  CHECK_FALSE(f.updater->state().from_copy);
  CHECK(f.updater->Detail().empty());
}

TEST_CASE("StreamUpdater: the age of the copy in use is a metric") {
  Fixture f;
  f.Answer(Good(kOne));
  REQUIRE(f.Start().has_value());
  f.updater.reset();
  core::Metrics metrics({}, "second");
  StreamRegistry registry(f.options);
  StreamUpdater second({f.options, registry, metrics, f.clock, f.copy_path(), "test",
                        [](const fetch::HttpRequest&, const std::function<void(Reply)>& done) {
                          done(WithStatus(503));
                        }});
  REQUIRE(second.Start().has_value());
  f.clock.Set(1000321);
  CHECK(metrics.Scrape().find("\nsluice_stream_config_copy_age_seconds 321\n") !=
        std::string::npos);
}

TEST_CASE("StreamUpdater: without sources and without a good copy it does not start") {
  Fixture f;
  f.Answer(WithStatus(500));
  const auto none = f.Start();
  REQUIRE(none.has_error());
  CHECK(none.error().code == core::ErrorCode::kStreamConfigUnavailable);
  CHECK(none.error().message == "stream_config_uri " + f.options.config_uri + " answered 500");
  f.Answer(Good(kOne));
  REQUIRE(f.Start().has_value());
  f.updater->Stop();
  f.Answer(WithStatus(500));
  std::ifstream in(f.copy_path(), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  const std::string good = text.str();
  REQUIRE(good.size() > 100);
  SUBCASE("cut") {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{20}, good.find('\n') + 1, good.size() / 2, good.size() - 1}) {
      std::ofstream(f.copy_path(), std::ios::binary) << good.substr(0, size);
      CHECK_FALSE(f.Start().has_value());
    }
  }
  SUBCASE("a bit flipped") {
    std::string bad = good;
    bad[good.size() - 10] = static_cast<char>(bad[good.size() - 10] ^ 1);
    std::ofstream(f.copy_path(), std::ios::binary) << bad;
    CHECK_FALSE(f.Start().has_value());
  }
  SUBCASE("of other sources") {
    f.options.config_object_path = "other";
    CHECK_FALSE(f.Start().has_value());
  }
  SUBCASE("good") { CHECK(f.Start().has_value()); }
}

TEST_CASE("StreamUpdater: a copy that cannot be written is told, and does no harm") {
  Fixture f;
  f.folder.Write("data", "a file where the folder would be");
  f.Answer(Good(kOne));
  test::CapturedStderr captured;
  REQUIRE(f.Start().has_value());
  CHECK(CountOf(captured.Text(), R"("kind":"stream_config_copy_failed")") == 1);
  CHECK(f.Title() == "one");
}

TEST_CASE("StreamUpdater: files are watched, whichever way they are replaced") {
  Fixture f;
  const std::string path = f.folder.Write("streams.yaml", "a: {schema_title: v1}\n");
  f.options.config_uri = path;
  f.options.config_object_path.clear();
  REQUIRE(f.Start().has_value());
  CHECK(f.Title() == "v1");
  f.folder.Write("beside", "a: {schema_title: v2}\n");
  std::filesystem::rename(f.folder.path() + "/beside", path);
  CHECK(Within(seconds(20), [&] { return f.Title() == "v2"; }));
  f.folder.Write("streams.yaml", "a: {schema_title: v3}\n");  // in place
  CHECK(Within(seconds(20), [&] { return f.Title() == "v3"; }));
  f.folder.Write("streams.yaml", "a: [\n");
  CHECK(Within(seconds(20), [&] { return !f.updater->Detail().empty(); }));
  CHECK(f.Title() == "v3");
  std::filesystem::remove(path);
  std::filesystem::create_directory(f.folder.path() + "/v4");
  f.folder.Write("v4/streams.yaml", "a: {schema_title: v4}\n");
  std::filesystem::create_symlink(f.folder.path() + "/v4/streams.yaml", path);
  CHECK(Within(seconds(20), [&] { return f.Title() == "v4"; }));
  f.folder.Write("v4/streams.yaml", "a: {schema_title: v5}\n");  // behind the link
  CHECK(Within(seconds(20), [&] { return f.Title() == "v5"; }));
}

TEST_CASE("StreamUpdater: a folder is watched") {
  Fixture f;
  f.options.config_uri.clear();
  f.options.config_files = {f.folder.path() + "/d"};
  std::filesystem::create_directory(f.folder.path() + "/d");
  f.folder.Write("d/1.yaml", "a: {schema_title: v1}\n");
  REQUIRE(f.Start().has_value());
  f.folder.Write("d/2.yaml", "b: {schema_title: new}\n");
  CHECK(Within(seconds(20), [&] { return f.Title("b") == "new"; }));
  std::filesystem::remove(f.folder.path() + "/d/2.yaml");
  CHECK(Within(seconds(20), [&] { return f.Title("b") == "none"; }));
}

TEST_CASE("StreamUpdater: refreshes by itself after the time to live") {
  Fixture f;
  f.options.config_ttl_seconds = 1;
  f.Answer(Good(kOne));
  REQUIRE(f.Start().has_value());
  f.Answer(Good(kTwo));
  CHECK(Within(seconds(20), [&] { return f.Title() == "two"; }));
  CHECK(WithJitter(seconds(60), 0).count() == 54000);
  CHECK(WithJitter(seconds(60), 0.5).count() == 60000);
  CHECK(WithJitter(seconds(60), 1).count() == 66000);
}

TEST_CASE("StreamUpdater: many threads ask, declare and read while it refreshes") {
  Fixture f;
  f.Answer(Good(kOne));
  REQUIRE(f.Start().has_value());
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int i = 0; !stop; ++i) f.Answer(Good(i % 2 == 0 ? kTwo : kOne));
  });
  threads.emplace_back([&] {
    while (!stop) f.updater->Refresh();
  });
  threads.emplace_back([&] {
    for (int i = 0; !stop; ++i) {
      const std::string name = "d" + std::to_string(i % 7);
      if (!f.registry->SetDeclared({{name, R"({"schema_title":"d"})"}}).has_value()) ++wrong;
    }
  });
  threads.emplace_back([&] {
    std::uint64_t last = 0;
    while (!stop) {
      const auto snapshot = f.registry->Current();
      if (snapshot->generation < last) ++wrong;
      last = snapshot->generation;
      const StreamSettings* a = snapshot->Find("a");
      if (a == nullptr || (a->schema_title != "one" && a->schema_title != "two")) ++wrong;
      static_cast<void>(f.updater->Detail());
    }
  });
  for (int i = 0; i < 200; ++i) f.updater->RefreshAndWait();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("StreamUpdater: stops while a request hangs") {
  test::TempFolder folder;
  core::StreamOptions options;
  options.config_uri = kUrl;
  options.config_object_path = "streams";
  core::Metrics metrics({}, "test");
  SetClock clock;
  StreamRegistry registry(options);
  std::atomic<int> asked{0};
  StreamUpdater updater({options, registry, metrics, clock, "", "test",
                         [&](const fetch::HttpRequest&, const std::function<void(Reply)>& done) {
                           if (asked++ == 0) done(Good(kOne));  // the second never answers
                         }});
  REQUIRE(updater.Start().has_value());
  updater.Refresh();
  CHECK(Within(seconds(20), [&] { return asked == 2; }));
  updater.Stop();
}

TEST_CASE("StreamUpdater: other sources count once they were read and are asked for") {
  Fixture f;
  f.Answer(Good(kOne));
  REQUIRE(f.Start().has_value());
  core::StreamOptions other = f.options;
  other.inline_config = R"({"a":{"schema_title":"inline"}})";
  auto change = f.updater->Prepare(other);
  REQUIRE(change.has_value());
  CHECK(f.Title() == "one");
  (*change)();
  CHECK(f.Title() == "inline");
  f.Answer(Good(R"({"streams":{"b":{"schema_title":"new"}}})"));
  f.updater->RefreshAndWait();  // by the other sources from then on
  CHECK(f.Title() == "inline");
  CHECK(f.Title("b") == "new");
}

TEST_CASE("StreamUpdater: other sources that are bad, or not asked for, change nothing") {
  Fixture f;
  f.Answer(Good(kOne));
  REQUIRE(f.Start().has_value());
  core::StreamOptions other = f.options;
  other.inline_config = R"({"a":{"schema_title":7}})";
  const auto refused = f.updater->Prepare(other);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message.find("schema_title") != std::string::npos);
  other.inline_config = R"({"a":{"schema_title":"inline"}})";
  CHECK(f.updater->Prepare(other).has_value());
  f.Answer(Good(kTwo));
  f.updater->RefreshAndWait();
  CHECK(f.Title() == "two");
}

}  // namespace sluice::streams
