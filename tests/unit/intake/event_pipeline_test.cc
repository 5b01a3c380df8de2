#include "intake/event_pipeline.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "support/padded.h"
#include "support/recording_producer.h"
#include "support/temp_folder.h"

namespace sluice::intake {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThing = R"(
title: thing
$id: /thing/1.0.0
$schema: 'https://json-schema.org/draft-07/schema#'
type: object
required: [$schema, meta]
properties:
  $schema: {type: string}
  meta:
    type: object
    required: [dt, stream]
    properties:
      dt: {type: string, format: date-time, maxLength: 128}
      id: {type: string}
      request_id: {type: string}
      stream: {type: string, minLength: 1}
  http:
    type: object
    properties:
      client_ip: {type: string}
      request_headers: {type: object, additionalProperties: {type: string}}
  count: {type: integer, default: 3}
)";

constexpr const char* kErrorSchemaText = R"(
title: error
$id: /error/1.0.0
$schema: 'https://json-schema.org/draft-07/schema#'
type: object
additionalProperties: false
required: [$schema, meta, message, raw_event, emitter_id]
properties:
  $schema: {type: string}
  meta: {type: object, required: [stream, dt], properties: {stream: {type: string}, dt: {type: string}}}
  emitter_id: {type: string}
  raw_event: {type: string}
  errored_schema_uri: {type: string}
  errored_stream_name: {type: string}
  message: {type: string}
)";

class FixedClock final : public core::Clock {
 public:
  std::chrono::system_clock::time_point Now() const override {
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(1593561600007));
  }
};

class MapHeaders final : public HeaderSource {
 public:
  std::map<std::string, std::string, std::less<>> values;
  std::string_view Header(std::string_view name) const override {
    const auto found = values.find(name);
    return found == values.end() ? std::string_view() : found->second;
  }
};

struct Sink final : ReplySink {
  std::optional<IngestReply> reply;
  int replies = 0;
  void OnReply(IngestReply&& r) override {
    reply = std::move(r);
    ++replies;
  }
};

// A pipeline whose I/O thread is the test's own.
struct Fixture {
  test::TempFolder folder;
  core::Config config;
  core::Metrics metrics{{}, "test"};
  test::RecordingProducer producer;
  FixedClock clock;
  MapHeaders headers;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> tasks;
  std::unique_ptr<registry::SchemaRegistry> schemas;
  std::unique_ptr<streams::StreamRegistry> streams;
  std::unique_ptr<EventPipeline> pipeline;
  std::string peer = "192.0.2.1";
  bool trusted = false;

  Fixture() {
    folder.Write("thing/1.0.0.yaml", kThing);
    fs::create_symlink("1.0.0.yaml", fs::path(folder.path()) / "thing/1.0.0");
    folder.Write("error/1.0.0", kErrorSchemaText);
    config.schemas.base_uris = {folder.path()};
    config.schemas.precache_all = false;
    config.streams.topic_prefix = "eqiad.";
  }
  ~Fixture() {
    if (schemas) schemas->Stop();
  }

  void Start() {
    schemas = std::make_unique<registry::SchemaRegistry>(config.schemas, metrics);
    streams = std::make_unique<streams::StreamRegistry>(config.streams);
    if (streams->configured()) REQUIRE(streams->Load().has_value());
    REQUIRE(schemas->Start().has_value());
    pipeline = std::make_unique<EventPipeline>(EventPipeline::Parts{
        config, *schemas, *streams, producer, metrics, clock, [this](std::function<void()> task) {
          const std::lock_guard lock(mutex);
          tasks.push_back(std::move(task));
          wake.notify_one();
        }});
  }

  std::shared_ptr<Sink> Post(std::string_view body,
                             produce::DeliveryMode mode = produce::DeliveryMode::kGuaranteed,
                             BodyKind kind = BodyKind::kJson) {
    if (!pipeline) Start();
    const test::Padded text(body);
    IngestRequest request;
    request.body = text.view();
    request.kind = kind;
    request.mode = mode;
    request.headers = &headers;
    request.request_id = "req-1";
    request.peer_address = peer;
    request.peer_is_trusted = trusted;
    auto sink = std::make_shared<Sink>();
    pipeline->Process(std::move(request), sink);
    return sink;
  }

  // Runs posted tasks until `done`.
  template <class Done>
  void RunUntil(Done done) {
    while (!done()) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex);
        REQUIRE(wake.wait_for(lock, std::chrono::seconds(20), [&] { return !tasks.empty(); }));
        task = std::move(tasks.front());
        tasks.pop_front();
      }
      task();
    }
  }

  IngestReply Answer(std::string_view body) {
    const auto sink = Post(body);
    RunUntil([&] { return sink->reply.has_value(); });
    return *sink->reply;
  }
};

constexpr const char* kGood = R"({"$schema":"/thing/1.0.0","meta":{"stream":"a.b"},"n":1.0})";

TEST_CASE("EventPipeline: an event is completed, validated and produced with its bytes untouched") {
  Fixture f;
  const IngestReply reply = f.Answer(kGood);
  CHECK(reply.status == 201);
  CHECK(reply.events == 1);
  CHECK(reply.durability == produce::Durability::kKafka);
  REQUIRE(f.producer.taken().size() == 1);
  const auto taken = f.producer.taken()[0];
  CHECK(taken.topic == "eqiad.a.b");
  CHECK(taken.timestamp_ms == 1593561600007);
  CHECK_FALSE(taken.has_key);
  const std::string start = R"({"$schema":"/thing/1.0.0","meta":{"stream":"a.b","id":")";
  CHECK(taken.value.substr(0, start.size()) == start);
  CHECK(
      taken.value.substr(start.size() + 36) ==
      R"(","dt":"2020-07-01T00:00:00.007Z","request_id":"req-1"},"n":1.0,"http":{"client_ip":"192.0.2.1"},"count":3})");
}

TEST_CASE("EventPipeline: meta.dt by policy, other fields only where absent") {
  const char* event =
      R"({"$schema":"/thing/1.0.0","meta":{"stream":"s","dt":"2001-01-01T00:00:00Z","id":"i","request_id":"r"},"http":{"client_ip":"c"},"count":1})";
  Fixture always;
  CHECK(always.Answer(event).status == 201);
  CHECK(always.producer.taken()[0].value.find("2020-07-01T00:00:00.007Z") != std::string::npos);
  CHECK(always.producer.taken()[0].timestamp_ms == 1593561600007);
  Fixture missing;
  missing.config.enrichment.meta_dt = core::WhenToSet::kMissing;
  CHECK(missing.Answer(event).status == 201);
  CHECK(missing.producer.taken()[0].value == event);
  CHECK(missing.producer.taken()[0].timestamp_ms == 978307200000);
}

TEST_CASE("EventPipeline: forwarded addresses are believed from configured proxies only") {
  Fixture f;
  f.headers.values = {{"x-forwarded-for", "203.0.113.9, 10.0.0.1"}};
  f.Answer(kGood);
  CHECK(f.producer.taken()[0].value.find("192.0.2.1") != std::string::npos);
  f.trusted = true;
  f.Answer(kGood);
  CHECK(f.producer.taken()[1].value.find("\"203.0.113.9\"") != std::string::npos);
  f.headers.values["x-client-ip"] = "198.51.100.7";
  f.Answer(kGood);
  CHECK(f.producer.taken()[2].value.find("\"198.51.100.7\"") != std::string::npos);
}

TEST_CASE("EventPipeline: records are compact, one line each") {
  Fixture f;
  CHECK(f.Answer("{\n \"$schema\": \"/thing/1.0.0\",\n \"meta\": {\"stream\": \"s\", \"id\": \"a "
                 "b\"}\n}\n")
            .status == 201);
  const std::string value = f.producer.taken()[0].value;
  CHECK(value.find('\n') == std::string::npos);
  CHECK(value.find("\"id\":\"a b\"") != std::string::npos);
}

TEST_CASE("EventPipeline: empty and malformed bodies are answered as a whole") {
  Fixture f;
  CHECK(f.Answer("{}").reason == "Request body was empty. Must provide JSON encoded events.");
  CHECK(f.Answer("[ ]").status == 400);
  CHECK(f.Answer("7").body.find("a number at byte 0") != std::string::npos);
  CHECK(f.Answer("{\"a\":").body.find("\"code\":\"malformed_body\"") != std::string::npos);
  CHECK(f.producer.taken().empty());
}

TEST_CASE("EventPipeline: failures are told by event, in order, and the rest is produced") {
  Fixture f;
  const IngestReply reply =
      f.Answer(std::string("[1,") + kGood + R"(,{"$schema":"/thing/1.0.0","meta":{"stream":5}},)" +
               R"({"$schema":"/no/1.0.0","meta":{}},{"$schema":5},{"$schema":"/../x"}])");
  CHECK(reply.status == 207);
  CHECK(reply.reason == "1 out of 6 events were accepted, but 5 failed (1 invalid and 4 errored).");
  CHECK(reply.body.find(
            R"("event":1,"context":{"message":"Field(s) $schema were missing from event)") !=
        std::string::npos);
  CHECK(reply.body.find("should be string") != std::string::npos);
  CHECK(reply.body.find("Failed loading schema at /no/1.0.0") != std::string::npos);
  CHECK(reply.body.find("schema_uri_not_allowed") != std::string::npos);
  CHECK(f.producer.taken().size() == 1);
  CHECK(f.metrics.events_in_flight() == 0);
}

TEST_CASE("EventPipeline: escaped addresses survive completion") {
  Fixture f;
  const IngestReply reply =
      f.Answer(R"({"\u0024schema":"\/thing\/1.0.0","meta":{"stream":"a\u002eb"},"x":"\ud800"})");
  CHECK(reply.status == 201);
  CHECK(f.producer.taken()[0].topic == "eqiad.a.b");
  CHECK(f.Answer(R"([{"$schema":"\/no\/1","meta":{"stream":"\u0061"}}])").body.find("/no/1") !=
        std::string::npos);
}

TEST_CASE("EventPipeline: of duplicate keys the last is validated and forwarded") {
  Fixture f;
  CHECK(f.Answer(R"({"$schema":"/thing/1.0.0","meta":{"stream":"s"},"count":"x","count":2})")
            .status == 201);
  CHECK(f.producer.taken()[0].value.find("\"x\"") == std::string::npos);
  CHECK(f.Answer(R"({"$schema":"/thing/1.0.0","meta":{"stream":"s"},"count":2,"count":"x"})")
            .status == 400);
}

TEST_CASE("EventPipeline: hasty is answered before anything is known") {
  Fixture f;
  f.producer.hold = true;
  const auto sink = f.Post(kGood, produce::DeliveryMode::kHasty);
  REQUIRE(sink->reply.has_value());  // the schema is not even loaded
  CHECK(sink->reply->status == 202);
  CHECK(sink->reply->reason == "1 events hastily received.");
  f.RunUntil([&] { return !f.producer.taken().empty(); });
  CHECK(f.metrics.events_in_flight() == 1);
  produce::Delivery::CompleteDelivered(f.producer.taken()[0].slot, produce::Durability::kKafka);
  f.RunUntil([&] { return f.metrics.events_in_flight() == 0; });
  CHECK(f.producer.taken()[0].mode == produce::DeliveryMode::kHasty);
  CHECK(sink->replies == 1);
}

TEST_CASE("EventPipeline: a body has at most limits.max_events events") {
  Fixture f;
  f.config.limits.max_events = 2;
  CHECK(f.Answer(std::string("[") + kGood + "," + kGood + "]").status == 201);
  const auto refused = f.Answer("[1,2,3]");
  CHECK(refused.status == 413);
  CHECK(refused.body.find("limits.max_events") != std::string::npos);
}

TEST_CASE("EventPipeline: what is told about failures is charged, or the request fails whole") {
  Fixture f;
  f.config.limits.memory_bytes = 1 << 20;
  AdmissionControl admission(f.config.limits);
  f.Start();
  std::string body = "[";
  for (int i = 0; i < 20000; ++i) body += i == 0 ? "1" : ",1";
  body += ']';
  const test::Padded text(body);
  IngestRequest request;
  request.body = text.view();
  request.headers = &f.headers;
  request.request_id = "r";
  auto permit = admission.Admit(body.size());
  REQUIRE(permit.has_value());
  request.permit = std::move(*permit);
  const auto sink = std::make_shared<Sink>();
  f.pipeline->Process(std::move(request), sink);
  REQUIRE(sink->reply.has_value());
  CHECK(sink->reply->status == 503);
  CHECK(sink->reply->body.find("limits.memory_bytes") != std::string::npos);
  CHECK(sink->reply->body.size() < 1000);
  CHECK(admission.bytes() == 0);
  CHECK(f.metrics.events_in_flight() == 0);
}

TEST_CASE("EventPipeline: lines of NDJSON are events, each well-formed alone") {
  Fixture f;
  const auto good = f.Post(std::string(kGood) + "\r\n\n" + kGood + "\n",
                           produce::DeliveryMode::kGuaranteed, BodyKind::kNdjson);
  f.RunUntil([&] { return good->reply.has_value(); });
  CHECK(good->reply->status == 201);
  CHECK(good->reply->events == 2);
  const auto split = f.Post("{\"a\":\n1}", produce::DeliveryMode::kGuaranteed, BodyKind::kNdjson);
  REQUIRE(split->reply.has_value());
  CHECK(split->reply->body.find("of line 1") != std::string::npos);
  const auto blank = f.Post("\n \n", produce::DeliveryMode::kGuaranteed, BodyKind::kNdjson);
  CHECK(blank->reply->reason == "Request body was empty. Must provide JSON encoded events.");
}

TEST_CASE("EventPipeline: no answer before the delivery report; a failed one is told") {
  Fixture f;
  f.producer.hold = true;
  const auto sink = f.Post(std::string("[") + kGood + "," + kGood + "]");
  f.RunUntil([&] { return f.producer.taken().size() == 2; });
  CHECK_FALSE(sink->reply.has_value());
  produce::Delivery::CompleteDelivered(f.producer.taken()[0].slot, produce::Durability::kKafka);
  produce::Delivery::CompleteFailed(f.producer.taken()[1].slot, core::ErrorCode::kDeliveryTimeout,
                                    "late");
  f.RunUntil([&] { return sink->reply.has_value(); });
  CHECK(sink->reply->status == 207);
  CHECK(
      sink->reply->body.find("\"context\":{\"message\":\"late\",\"code\":\"delivery_timeout\"}") !=
      std::string::npos);
}

TEST_CASE(
    "EventPipeline: a requester is answered at the deadline, a later report changes nothing") {
  Fixture f;
  f.producer.hold = true;
  const auto sink = f.Post(kGood);
  f.RunUntil([&] { return f.producer.taken().size() == 1; });
  f.pipeline->Tick(std::chrono::steady_clock::now());
  CHECK_FALSE(sink->reply.has_value());
  f.pipeline->Tick(std::chrono::steady_clock::now() + f.config.limits.delivery_timeout);
  REQUIRE(sink->reply.has_value());
  CHECK(sink->reply->status == 503);
  CHECK(sink->reply->retry_after_seconds.has_value());
  CHECK(f.metrics.events_in_flight() == 0);
  produce::Delivery::CompleteDelivered(f.producer.taken()[0].slot, produce::Durability::kKafka);
  f.RunUntil([&] { return f.tasks.empty(); });
  CHECK(sink->replies == 1);
  CHECK(f.metrics.events_in_flight() == 0);
}

TEST_CASE("EventPipeline: without room nothing is looked at, and 503 tells when to come back") {
  Fixture f;
  f.producer.room = false;
  const auto reply = f.Answer(kGood);
  CHECK(reply.status == 503);
  CHECK(reply.retry_after_seconds == 23);
  CHECK(reply.body.find("\"code\":\"queue_full\"") != std::string::npos);
  CHECK(f.producer.taken().empty());
  CHECK(f.metrics.events_in_flight() == 0);
  f.producer.room = true;
  CHECK(f.Answer(kGood).status == 201);
}

TEST_CASE("EventPipeline: Retry-After of what found no room is the time of the queue to drain") {
  Fixture f;
  f.producer.hold = true;
  const auto sink = f.Post(kGood);
  f.RunUntil([&] { return f.producer.taken().size() == 1; });
  produce::Delivery::CompleteFailed(f.producer.taken()[0].slot, core::ErrorCode::kQueueFull,
                                    "full");
  f.RunUntil([&] { return sink->reply.has_value(); });
  CHECK(sink->reply->status == 503);
  CHECK(sink->reply->retry_after_seconds == 23);
}

TEST_CASE("EventPipeline: an unknown topic may pass, but not where topics are required") {
  for (const auto policy : {core::TopicPolicy::kCreate, core::TopicPolicy::kRequire}) {
    Fixture f;
    f.config.output.kafka.topics.policy = policy;
    f.producer.hold = true;
    const auto sink = f.Post(kGood);
    f.RunUntil([&] { return f.producer.taken().size() == 1; });
    produce::Delivery::CompleteFailed(f.producer.taken()[0].slot, core::ErrorCode::kTopicUnknown,
                                      "none");
    f.RunUntil([&] { return sink->reply.has_value(); });
    CHECK(sink->reply->status == (policy == core::TopicPolicy::kRequire ? 400 : 503));
    CHECK(f.metrics.events_in_flight() == 0);
  }
}

TEST_CASE("EventPipeline: streams are checked before the schema, with the original's words") {
  Fixture f;
  f.folder.Write("streams.yaml",
                 "a.b: {schema_title: thing, message_key_fields: {k: meta.stream}}\nc: "
                 "{schema_title: other}\n");
  f.config.streams.config_uri = f.folder.path() + "/streams.yaml";
  CHECK(f.Answer(kGood).status == 201);
  CHECK(f.producer.taken()[0].key == R"({"k":"a.b"})");
  const auto unknown = f.Answer(R"({"$schema":"/thing/1.0.0","meta":{"stream":"zz","id":"i1"}})");
  CHECK(unknown.status == 400);
  CHECK(unknown.body.find("event i1 of schema at /thing/1.0.0 destined to stream zz is not allowed "
                          "in stream; zz is not configured.") != std::string::npos);
  const auto title = f.Answer(R"({"$schema":"/thing/1.0.0","meta":{"stream":"c","id":"i2"}})");
  CHECK(title.body.find("schema title must be other.") != std::string::npos);
  CHECK(f.Answer(R"({"$schema":"/no/1.0.0","meta":{"stream":"zz"}})")
            .body.find("zz is not configured.") != std::string::npos);
  CHECK(f.Answer(R"({"$schema":"/thing/1.0.0","meta":{}})")
            .body.find("Field(s) meta.stream were missing") != std::string::npos);
}

TEST_CASE(
    "EventPipeline: what fails validation is told to the error stream, in the schema that is "
    "there") {
  Fixture f;
  f.config.enrichment.error_stream = "test.error";
  f.config.user_agent = "agent";
  const auto reply =
      f.Answer(R"({"$schema":"/thing/1.0.0","meta":{"stream":"a","domain":"d"},"count":"x"})");
  CHECK(reply.status == 400);
  f.RunUntil([&] { return !f.producer.taken().empty(); });
  const auto taken = f.producer.taken()[0];
  CHECK(taken.topic == "eqiad.test.error");
  CHECK(taken.value.find(R"("$schema":"/error/1.0.0")") != std::string::npos);
  CHECK(taken.value.find(R"("errored_stream_name":"a")") != std::string::npos);
  CHECK(taken.value.find(R"("message":"'.count' should be integer")") != std::string::npos);
  CHECK(taken.value.find(R"("raw_event":"{\"$schema\":\"/thing/1.0.0\")") != std::string::npos);
  CHECK(taken.value.find("\"emitter_id\":\"agent\"") != std::string::npos);
  CHECK(f.metrics.events_in_flight() == 0);
}

}  // namespace
}  // namespace sluice::intake
