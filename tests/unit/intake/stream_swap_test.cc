// The stream configuration is swapped while events come in: none fails, and no request is judged by
// two snapshots.
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "intake/event_pipeline.h"
#include "support/padded.h"
#include "support/recording_producer.h"

namespace sluice::intake {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = R"(
title: thing
$id: /thing/1.0.0
$schema: 'https://json-schema.org/draft-07/schema#'
type: object
required: [$schema, meta]
properties:
  $schema: {type: string}
  mark: {type: string}
  meta: {type: object, required: [stream], properties: {stream: {type: string}}}
)";

constexpr const char* kOther = R"(
title: other
$id: /other/1.0.0
$schema: 'https://json-schema.org/draft-07/schema#'
type: object
required: [$schema, meta]
properties: {$schema: {type: string}, mark: {type: string}, meta: {type: object}}
)";

// Everything that a snapshot says of these streams changes together: which header the field `mark`
// is filled from, and what the member of the key is called. In turn 1 the regex has another text.
std::string StreamsOf(int turn) {
  const std::string i = std::to_string(turn);
  const std::string settings =
      R"({"schema_title":"thing","message_key_fields":{"k)" + i +
      R"(":"mark"},"producers":{"eventgate":{"enrich_fields_from_http_headers":{"mark":"x-mark)" +
      i + R"("}}}})";
  const std::string regex = turn == 0 ? R"("/^r\\./")" : R"("/^r[.]/")";
  return R"({"one":)" + settings + R"(,"two":)" + settings + "," + regex + ":" + settings + "}";
}

constexpr const char* kBatch = R"([{"$schema":"/thing/1.0.0","meta":{"stream":"one"}},)"
                               R"({"$schema":"/thing/1.0.0","meta":{"stream":"r.x"}},)"
                               R"({"$schema":"/thing/1.0.0","meta":{"stream":"two"}}])";

struct Headers final : HeaderSource {
  std::string_view Header(std::string_view name) const override {
    if (name == "x-mark0") return "0";
    return name == "x-mark1" ? "1" : std::string_view();
  }
};

struct Sink final : ReplySink {
  std::optional<IngestReply> reply;
  void OnReply(IngestReply&& r) override { reply = std::move(r); }
};

// An I/O thread: a pipeline and what was posted to it.
struct Worker {
  test::RecordingProducer producer;
  core::SystemClock clock;
  Headers headers;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> tasks;
  std::unique_ptr<EventPipeline> pipeline;

  Worker(const core::Config& config, registry::SchemaRegistry& schemas,
         streams::StreamRegistry& streams, core::Metrics& metrics) {
    pipeline = std::make_unique<EventPipeline>(EventPipeline::Parts{
        config, schemas, streams, producer, metrics, clock, [this](std::function<void()> task) {
          const std::lock_guard lock(mutex);
          tasks.push_back(std::move(task));
          wake.notify_one();
        }});
  }

  IngestReply Answer(std::string_view body) { return End(*Begin(body)); }

  std::shared_ptr<Sink> Begin(std::string_view body) {
    const test::Padded text(body);
    IngestRequest request;
    request.body = text.view();
    request.headers = &headers;
    request.request_id = "r";
    request.peer_address = "192.0.2.1";
    auto sink = std::make_shared<Sink>();
    pipeline->Process(std::move(request), sink);
    return sink;
  }

  IngestReply End(Sink& sink) {
    while (!sink.reply) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return !tasks.empty(); });
        task = std::move(tasks.front());
        tasks.pop_front();
      }
      task();
    }
    return *std::move(sink.reply);
  }
};

struct Fixture {
  fs::path folder = fs::temp_directory_path() / ("sluice-swap-" + std::to_string(getpid()));
  core::Config config;
  core::Metrics metrics{{}, "test"};
  std::unique_ptr<registry::SchemaRegistry> schemas;
  std::unique_ptr<streams::StreamRegistry> streams;

  explicit Fixture(std::string inline_config) {
    for (const auto& [name, text] : {std::pair("thing", kSchema), std::pair("other", kOther)}) {
      fs::create_directories(folder / name);
      std::ofstream(folder / name / "1.0.0") << text;
    }
    config.schemas.base_uris = {folder.string()};
    config.streams.inline_config = std::move(inline_config);
    config.streams.topic_prefix = "eqiad.";
  }
  ~Fixture() {
    if (schemas) schemas->Stop();
    fs::remove_all(folder);
  }
  void Start() {
    schemas = std::make_unique<registry::SchemaRegistry>(config.schemas, metrics);
    streams = std::make_unique<streams::StreamRegistry>(config.streams);
    REQUIRE(streams->Load().has_value());
    REQUIRE(schemas->Start().has_value());
  }
};

// Which snapshot judged a record, -1 if its parts are of two.
int TurnOf(const test::RecordingProducer::Taken& record) {
  for (int turn : {0, 1}) {
    const std::string i = std::to_string(turn);
    if (record.key == "{\"k" + i + "\":\"" + i + "\"}" &&
        record.value.find("\"mark\":\"" + i + "\"") != std::string::npos) {
      return turn;
    }
  }
  return -1;
}

bool OfOneSnapshot(const std::vector<test::RecordingProducer::Taken>& records) {
  const int turn = TurnOf(records.front());
  for (const auto& record : records) {
    if (TurnOf(record) != turn) return false;
  }
  return turn >= 0;
}

}  // namespace

TEST_CASE("Stream swap: the check sees a mix") {
  using Taken = test::RecordingProducer::Taken;
  const Taken zero{"t", R"({"mark":"0"})", R"({"k0":"0"})", true, 0, {}, nullptr};
  const Taken one{"t", R"({"mark":"1"})", R"({"k1":"1"})", true, 0, {}, nullptr};
  const Taken mixed{"t", R"({"mark":"1"})", R"({"k0":"1"})", true, 0, {}, nullptr};
  CHECK(OfOneSnapshot({zero, zero}));
  CHECK(OfOneSnapshot({one, one}));
  CHECK_FALSE(OfOneSnapshot({zero, one}));
  CHECK_FALSE(OfOneSnapshot({mixed, mixed}));
}

TEST_CASE("Stream swap: 100 swaps under load, no event fails, none is judged by a mix") {
  Fixture f(StreamsOf(0));
  f.Start();
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<int> refused{0};
  std::atomic<int> mixed{0};
  std::atomic<std::uint64_t> by_turn[2] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      Worker worker(f.config, *f.schemas, *f.streams, f.metrics);
      while (!stop) {
        if (worker.Answer(kBatch).status != 201) ++refused;
        const auto records = worker.producer.Take();
        if (records.size() != 3 || !OfOneSnapshot(records)) {
          ++mixed;
        } else {
          ++by_turn[TurnOf(records.front())];
        }
        ++requests;
      }
    });
  }
  const auto read = [](int turn) {
    core::StreamOptions options;
    options.inline_config = StreamsOf(turn);
    return streams::ReadStaticStreams(options);
  };
  for (int swap = 1; swap <= 100; ++swap) {
    const std::uint64_t before = requests;
    auto next = read(swap % 2);
    REQUIRE(next.has_value());
    f.streams->Publish(*std::move(next));
    if (swap % 10 == 0)
      REQUIRE(f.streams->SetDeclared({{"d", R"({"schema_title":"thing"})"}}).has_value());
    while (requests < before + 20) std::this_thread::yield();  // 60 events at least between swaps
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == 0);
  CHECK(mixed == 0);
  CHECK(by_turn[0] >= 500);
  CHECK(by_turn[1] >= 500);
  CHECK(f.streams->generation() == 111);
}

TEST_CASE(
    "Stream swap: a request that waits for its schema is judged by the streams it began with") {
  Fixture f(StreamsOf(0));
  f.config.schemas.precache_all = false;
  f.Start();
  Worker worker(f.config, *f.schemas, *f.streams, f.metrics);
  const auto waiting = worker.Begin(kBatch);
  REQUIRE_FALSE(waiting->reply);
  core::StreamOptions options;
  options.inline_config = StreamsOf(1);
  auto next = streams::ReadStaticStreams(options);
  REQUIRE(next.has_value());
  f.streams->Publish(*std::move(next));
  CHECK(worker.End(*waiting).status == 201);
  auto records = worker.producer.Take();
  REQUIRE(records.size() == 3);
  CHECK(OfOneSnapshot(records));
  CHECK(TurnOf(records.front()) == 0);
  CHECK(worker.Answer(kBatch).status == 201);
  records = worker.producer.Take();
  REQUIRE(records.size() == 3);
  CHECK(OfOneSnapshot(records));
  CHECK(TurnOf(records.front()) == 1);
}

TEST_CASE("Topic limit: names from clients open so many topics and no more") {
  Fixture f(R"({"named":{"schema_title":"thing"},"late":{"schema_title":"thing"},)"
            R"("/^r\\./":{"schema_title":"thing"}})");
  f.config.limits.max_topics = 2;
  f.Start();
  Worker worker(f.config, *f.schemas, *f.streams, f.metrics);
  const auto status = [&](const std::string& stream) {
    return worker.Answer(R"({"$schema":"/thing/1.0.0","meta":{"stream":")" + stream + R"("}})");
  };
  CHECK(status("named").status == 201);
  CHECK(status("r.1").status == 201);
  CHECK(status("r.2").status == 201);
  const IngestReply refused = status("r.3");
  CHECK(refused.status == 503);
  CHECK(refused.body.find("\"code\":\"overloaded\"") != std::string::npos);
  CHECK(refused.body.find("limits.max_topics") != std::string::npos);
  CHECK(status("r.1").status == 201);
  CHECK(status("late").status == 201);
  CHECK(status("r.3").status == 503);
  CHECK(worker.producer.taken().size() == 5);
}

TEST_CASE("Topics: topic_prefixes null means none, where that is followed") {
  const std::string config = R"({"null":{"schema_title":"thing","topic_prefixes":null},)"
                             R"("list":{"schema_title":"thing","topic_prefixes":["codfw."]},)"
                             R"("eventlogging_x":{"schema_title":"thing"}})";
  for (const bool follow : {false, true}) {
    Fixture f(config);
    f.config.streams.follow_topic_prefixes = follow;
    f.Start();
    Worker worker(f.config, *f.schemas, *f.streams, f.metrics);
    for (const std::string stream : {"null", "list", "eventlogging_x"}) {
      CHECK(worker.Answer(R"({"$schema":"/thing/1.0.0","meta":{"stream":")" + stream + R"("}})")
                .status == 201);
    }
    const auto taken = worker.producer.taken();
    REQUIRE(taken.size() == 3);
    CHECK(taken[0].topic == (follow ? "null" : "eqiad.null"));
    CHECK(taken[1].topic == "eqiad.list");
    CHECK(taken[2].topic == "eventlogging_x");
  }
}

}  // namespace sluice::intake
