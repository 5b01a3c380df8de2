#include "daemon/service_file.h"

#include <string>
#include <vector>

#include "config_text.h"

namespace sluice::daemon {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kService =
    "service_name: main\n"
    "num_workers: 0\n"
    "logging: {level: warn, streams: []}\n"
    "metrics: {name: x, type: prometheus, port: 9200}\n"
    "services:\n"
    "- name: other\n"
    "  entrypoint: app\n"
    "  conf:\n"
    "    schema_base_uris: [/s]\n";

std::string Conf(std::string_view more) { return std::string(kService) + std::string(more); }

TEST_CASE("Service file: its keys and its defaults are the original's") {
  const ConfigReading reading = ReadText(kService);
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.shape == ConfigShape::kServiceFile);
  const core::Config& config = reading.config;
  CHECK(config.service_name == "main");
  CHECK(config.log.service_name == "main");
  CHECK(config.log.level == core::LogLevel::kWarn);
  CHECK(config.http.admin_port == 9200);
  CHECK(config.http.port == 8888);
  CHECK(config.http.interface == "0.0.0.0");
  CHECK(config.http.max_body_bytes == 100u << 10);
  CHECK(config.http.cors == "*");
}

TEST_CASE("Service file: the service's name serves where the file has none") {
  CHECK(ReadText("services:\n- {name: svc, conf: {schema_base_uris: x}}\n").config.service_name ==
        "svc");
}

TEST_CASE("Service file: keys without meaning here are listed once, with line and reason") {
  const ConfigReading reading =
      ReadText(Conf("    proxy: http://p\n    spec: {a: 1}\n"
                    "    kafka: {conf: {producer.poll.interval.ms: 10}}\n"));
  CHECK(ProblemLines(reading) == Lines{});
  Lines keys;
  for (const IgnoredKey& ignored : reading.ignored) {
    keys.push_back(ignored.where + ' ' + ignored.key);
    CHECK(!ignored.reason.empty());
  }
  CHECK(keys == Lines{"F:2 num_workers", "F:3 logging.streams", "F:4 metrics.name",
                      "F:4 metrics.type", "F:7 entrypoint", "F:10 proxy", "F:11 spec",
                      "F:12 kafka.conf.producer.poll.interval.ms"});
  CHECK(reading.config.output.kafka.conf.empty());
}

TEST_CASE("Service file: the generic factory completes nothing") {
  for (const std::string module :
       {"", "    eventgate_factory_module: lib/factories/default-eventgate\n",
        "    eventgate_factory_module: /x/default-eventgate.js\n"}) {
    const core::Config config = ReadText(Conf(module)).config;
    CHECK(config.enrichment.meta_dt == core::WhenToSet::kNever);
    CHECK(config.enrichment.meta_id == core::WhenToSet::kNever);
    CHECK(!config.enrichment.client_ip);
    CHECK(config.enrichment.request_headers.empty());
    CHECK(config.streams.stream_field.empty());
  }
  const core::Config own =
      ReadText(Conf("    enrichment: {meta_dt: missing}\n    stream_field: a.b\n")).config;
  CHECK(own.enrichment.meta_dt == core::WhenToSet::kMissing);
  CHECK(own.streams.stream_field == "a.b");
}

TEST_CASE("Service file: another factory completes as Sluice does by default") {
  const core::Config config =
      ReadText(Conf("    eventgate_factory_module: /srv/service/eventgate-wikimedia.js\n")).config;
  CHECK(config.enrichment.meta_dt == core::WhenToSet::kAlways);
  CHECK(config.streams.stream_field == "meta.stream");
}

TEST_CASE("Service file: --set names keys as in the flat shape") {
  const ConfigReading reading =
      ReadText(kService, {"port=0", "schema_base_uris=[a]", "metrics.port=0", "data_dir=/d"});
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.config.http.port == 0);
  CHECK(reading.config.http.admin_port == 0);
  CHECK(reading.config.schemas.base_uris == Lines{"a"});
  CHECK(reading.config.output.data_dir == "/d");
}

TEST_CASE("Service file: mistakes are named with where they belong") {
  CHECK(
      ProblemLines(ReadText(
          "port: 1\nmetrcs: 1\nservices:\n- conf: {schema_base_uris: x, prt: 1}\n  port: 3\n")) ==
      Lines{"F:1: port: stands beside services; move it below services[0].conf",
            "F:2: metrcs: is not a known key; did you mean metrics?",
            "F:4: prt: is not a known key; did you mean port?",
            "F:5: services[0].port: is not a known key; move settings of the service below conf"});
  CHECK(ProblemLines(ReadText("services: [{conf: {schema_base_uris: x}}, {}]\n"))[0] ==
        "F:1: services: must be a list of exactly one service; start one process for each service");
}

TEST_CASE("Service file: several sinks of metrics may be listed") {
  const ConfigReading reading = ReadText(
      "metrics:\n- {type: statsd, host: h}\n- {type: prometheus, port: 9300}\n"
      "services: [{conf: {schema_base_uris: x}}]\n");
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.config.http.admin_port == 9300);
}

TEST_CASE("Service file: the older map of headers to fields is read") {
  const ConfigReading reading =
      ReadText(Conf("    http_request_headers_to_fields: {x-a: meta.a, x-b: b}\n"));
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.config.enrichment.request_headers ==
        core::StringPairs{{"meta.a", "x-a"}, {"b", "x-b"}});
}

// A real file of a real deployment, where the shared data is at hand.
TEST_CASE("Service file: a production file is read unmodified") {
  const char* shared = std::getenv("SLUICE_SHARED");
  const std::string path =
      std::string(shared != nullptr ? shared : "../shared") + "/data/config/eventgate-main.yaml";
  if (access(path.c_str(), R_OK) != 0) {
    MESSAGE("SKIPPED: no shared data at ", path);
    return;
  }
  const ConfigReading reading = ReadConfig({path, {}});
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.ignored.size() == 10);
  const core::Config& config = reading.config;
  CHECK(config.service_name == "eventgate-main");
  CHECK(config.http.port == 8192);
  CHECK(!config.http.cors);
  CHECK(config.http.max_body_bytes == 10u << 20);
  CHECK(config.schemas.base_uris.size() == 4);
  CHECK(config.schemas.precache_uris.size() == 26);
  CHECK(config.streams.topic_prefix == "eqiad.");
  CHECK(config.streams.config_headers == core::StringPairs{{"Host", "meta.wikimedia.org"}});
  CHECK(config.output.kind == core::OutputKind::kKafka);
  CHECK(config.output.kafka.guaranteed_conf == core::StringPairs{{"queue.buffering.max.ms", "10"}});
  CHECK(config.test_events ==
        Lines{R"({"$schema":"/test/event/1.0.0","meta":{"stream":"eventgate-main.test.event"}})"});
}

}  // namespace
}  // namespace sluice::daemon
