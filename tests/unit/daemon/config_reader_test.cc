#include "daemon/config_reader.h"

#include <string>
#include <vector>

#include "config_text.h"
#include "daemon/config_checks.h"

namespace sluice::daemon {
namespace {

using Lines = std::vector<std::string>;

std::string With(std::string_view more) { return std::string(kMinimal) + std::string(more); }

TEST_CASE("ReadConfig: a minimal file has the defaults") {
  const ConfigReading reading = ReadText(kMinimal);
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.shape == ConfigShape::kFlat);
  CHECK(reading.config.schemas.base_uris == Lines{"/schemas"});
  CHECK(reading.config.http.port == 8888);
  CHECK(reading.config.http.interface == "127.0.0.1");
  CHECK(reading.config.output.kind == core::OutputKind::kFiles);
}

TEST_CASE("ReadConfig: a section may be nested or dotted") {
  const ConfigReading reading = ReadText(With(
      "limits:\n  max_depth: 7\nlimits.header_timeout: 3s\nadmin: {port: 1, interface: '::1'}\n"
      "kafka:\n  hasty:\n    conf: {linger.ms: 3}\n"));
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.config.limits.max_depth == 7);
  CHECK(reading.config.limits.header_timeout == std::chrono::seconds(3));
  CHECK(reading.config.http.admin_port == 1);
  CHECK(reading.config.http.admin_interface == "::1");
  CHECK(reading.config.output.kafka.hasty_conf == core::StringPairs{{"linger.ms", "3"}});
}

TEST_CASE("ReadConfig: all problems come at once, with line and remedy") {
  const ConfigReading reading = ReadText(
      "schema_base_urls: [/schemas]\n"
      "port: 70000\n"
      "limits:\n"
      "  max_dept: 3\n"
      "  body_timeout: soon\n"
      "cors: true\n"
      "colour: red\n");
  CHECK(
      ProblemLines(reading) ==
      Lines{
          "F:1: schema_base_urls: is not a known key; did you mean schema_base_uris?",
          "F:4: limits.max_dept: is not a known key; did you mean limits.max_depth?",
          "F:7: colour: is not a known key; remove it, or see docs/configuration.md for the names",
          "F:2: port: 70000 is too large; give 0 to 65535",
          "F:5: limits.body_timeout: is \"soon\"; give milliseconds, or a time such as 500ms, 10s "
          "or 2m",
          "F:6: cors: is \"true\"; give the text itself, or false",
          "schema_base_uris: is missing; name at least one folder, file:// or http(s):// URI where "
          "schemas are"});
}

TEST_CASE("ReadConfig: a key given twice is refused, with both lines") {
  CHECK(ProblemLines(ReadText(With("port: 1\nadmin.port: 3\nport: 2\n"))) ==
        Lines{"F:4: port: is given twice, first at F:2; keep one"});
}

TEST_CASE("ReadConfig: text that is no YAML is told with its line") {
  const ConfigReading reading = ReadText(With("port: [1\nx: 2\n"));
  REQUIRE(reading.problems.size() >= 1);
  const std::string line = reading.problems[0].Line();
  CHECK(line.rfind("F:3: is not YAML (", 0) == 0);
  CHECK(ProblemLines(ReadText("- a\n- b\n"))[0] ==
        "F: is not a map; give keys and values at the top level");
}

TEST_CASE("ReadConfig: a file that cannot be read is one problem of its own") {
  const ConfigReading reading = ReadConfig({"/nowhere/sluice.yaml", {}});
  REQUIRE(reading.problems.size() == 1);
  CHECK(reading.problems[0].Line() ==
        "/nowhere/sluice.yaml: cannot be read (No such file or directory); name a readable YAML "
        "file with --config");
}

TEST_CASE("ReadConfig: a folder is no file, an empty file is one") {
  CHECK(ProblemLines(ReadConfig({"/tmp", {}})) ==
        Lines{"/tmp: cannot be read (Is a directory); name a readable YAML file with --config"});
  CHECK(ProblemLines(ReadText("", {"schema_base_uris=x"})) == Lines{});
}

TEST_CASE("ReadConfig: --set overrides the file, whole maps and single entries") {
  const ConfigReading reading =
      ReadText(With("port: 1\nkafka.conf: {a.b: 1, linger.ms: 2}\n"),
               {"port=0", "schema_base_uris=[x, y]", "kafka.conf.linger.ms=5",
                "kafka.conf.acks=all", "kafka.hasty.conf={linger.ms: 7}", "limits={max_depth: 5}",
                "cors=false", "output=files", "port=2"});
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.config.http.port == 2);
  CHECK(reading.config.schemas.base_uris == Lines{"x", "y"});
  CHECK(reading.config.output.kafka.conf ==
        core::StringPairs{{"a.b", "1"}, {"linger.ms", "5"}, {"acks", "all"}});
  CHECK(reading.config.output.kafka.hasty_conf == core::StringPairs{{"linger.ms", "7"}});
  CHECK(reading.config.limits.max_depth == 5);
  CHECK(!reading.config.http.cors);
}

TEST_CASE("ReadConfig: a wrong --set says so") {
  CHECK(
      ProblemLines(ReadText(kMinimal, {"port", "=1", "prot=1", "port=[", "port=x"})) ==
      Lines{"--set: port: is not key=value; for example --set port=0",
            "--set: =1: is not key=value; for example --set port=0",
            "--set: prot: is not a known key; did you mean port?",
            "--set: port: has a value that is not YAML (end of sequence flow not found); quote it",
            "--set: port: is \"x\"; give a whole number, 0 to 65535"});
}

TEST_CASE("ReadConfig: a key without a value keeps its default") {
  const ConfigReading reading = ReadText(With("port:\nkafka:\nlimits.max_depth: ~\n"));
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.config.http.port == 8888);
  CHECK(reading.config.limits.max_depth == 1000);
}

TEST_CASE("ReadConfig: brokers make kafka the output, unless it is said otherwise") {
  const std::string brokers = With("kafka.conf: {metadata.broker.list: 'a:1'}\n");
  CHECK(ReadText(brokers).config.output.kind == core::OutputKind::kKafka);
  CHECK(ReadText(brokers, {"output=discard"}).config.output.kind == core::OutputKind::kDiscard);
}

TEST_CASE("CheckConfig: keys are held against each other, with the numbers") {
  const ConfigReading reading =
      ReadText(With("port: 9000\nadmin.port: 9000\nlimits.memory_bytes: 1mb\nmax_body_size: 2mb\n"
                    "shutdown: {deadline: 1s, not_ready_delay: 2s}\ninterface: localhost\n"
                    "trusted_proxies: [10.0.0.0/8, 10.0.0.0/33, proxy]\nevent_paths: [v1, /a, /a]\n"
                    "stream_config_uri: ftp://x/y\n"));
  CHECK(
      ProblemLines(reading) ==
      Lines{"F:7: interface: is \"localhost\", not an IP address; give one of this machine, for "
            "example 127.0.0.1 or "
            "0.0.0.0 for all",
            "F:3: admin.port: is 9000 as port is; give them different ports",
            "F:8: trusted_proxies: has \"10.0.0.0/33\", not a network; write it like 10.0.0.0/8",
            "F:9: event_paths: has \"v1\"; write a path like /v1/events",
            "F:10: stream_config_uri: has the scheme ftp; give a path or a file, http or https URI",
            "F:4: limits.memory_bytes: is 1048576 bytes, below max_body_size (2097152), so that no "
            "such body could "
            "be taken; raise it or lower max_body_size",
            "F:6: shutdown.not_ready_delay: is 2000 ms, not below shutdown.deadline (1000 ms), so "
            "that nothing could "
            "be drained; lower it or raise the deadline"});
}

TEST_CASE("CheckConfig: refused events are kept in bounded memory, masks are paths") {
  const ConfigReading reading =
      ReadText(With("refused: {keep: 1000, max_streams: 10000, mask: [a.b, .c]}\n"));
  CHECK(ProblemLines(reading) ==
        Lines{"F:2: refused.keep: times refused.max_streams times refused.max_event_bytes is more "
              "than 1gb of memory; lower one of them",
              "F:2: refused.mask: has \".c\"; write the path of a field, for example "
              "http.client_ip"});
  CHECK(ProblemLines(ReadText(With("refused: {keep: 100, mask: [a.b]}\n"))) == Lines{});
}

TEST_CASE("CheckConfig: Kafka must give a record up before the client's answer is due") {
  const std::string kafka = With("kafka:\n  conf:\n    metadata.broker.list: a:1\n");
  CHECK(ProblemLines(ReadText(kafka)) == Lines{});
  CHECK(ProblemLines(ReadText(kafka, {"limits.delivery_timeout=8s"})) ==
        Lines{"--set: limits.delivery_timeout: is 8000 ms, not 300 ms above message.timeout.ms of "
              "the guaranteed producer "
              "(8000 ms by default), so that an event could be delivered after its 503; raise it, "
              "or lower "
              "kafka.guaranteed.conf.message.timeout.ms"});
  CHECK(
      ProblemLines(ReadText(kafka + "    message.timeout.ms: 20000\n")) ==
      Lines{
          "F:5: kafka.conf.message.timeout.ms: is 20000 ms, not 300 ms below "
          "limits.delivery_timeout (10000 ms), so that "
          "an event could be delivered after its 503; lower it or raise limits.delivery_timeout"});
  CHECK(ProblemLines(ReadText(kafka + "    message.timeout.ms: 20000\n",
                              {"limits.delivery_timeout=21s"})) == Lines{});
  CHECK(!ReadText(kafka + "    message.timeout.ms: 0\n").problems.empty());
  CHECK(ProblemLines(ReadText(kafka + "    request.timeout.ms: 9000\n")) ==
        Lines{"F:3: kafka.conf: request.timeout.ms (9000) must be below message.timeout.ms (8000): "
              "a record would be given up before its broker answers"});
}

TEST_CASE("CheckConfig: hasty events are refused before those that somebody waits for") {
  const std::string kafka = With("kafka:\n  conf:\n    metadata.broker.list: a:1\n");
  CHECK(ProblemLines(ReadText(kafka, {"kafka.admit.hasty=81"})) ==
        Lines{"--set: kafka.admit.hasty: is 81, above kafka.admit.guaranteed (80), so that events "
              "that somebody waits for would be refused first; lower it"});
  CHECK(ProblemLines(ReadText(kafka, {"kafka.admit.hasty=80"})) == Lines{});
}

TEST_CASE("CheckConfig: an entry that librdkafka does not know is named with its line") {
  const ConfigReading reading =
      ReadText(With("kafka:\n  conf:\n    metadata.broker.list: a:1\n    compresion.codec: snappy\n"
                    "  hasty.conf:\n    acks: many\n"));
  REQUIRE(reading.problems.size() == 2);
  CHECK(reading.problems[0].Line().rfind("F:5: kafka.conf.compresion.codec: ", 0) == 0);
  CHECK(reading.problems[1].Line().rfind("F:7: kafka.hasty.conf.acks: ", 0) == 0);
}

TEST_CASE("CheckConfig: a fallback is another cluster, taken after the first had its time") {
  const std::string kafka = With(
      "kafka:\n  conf:\n    metadata.broker.list: a:1\n"
      "  fallback:\n    conf: {metadata.broker.list: b:1}\n");
  CHECK(ProblemLines(ReadText(kafka)) == Lines{});
  CHECK(ProblemLines(ReadText(kafka, {"kafka.fallback.conf.metadata.broker.list=a:1"})) ==
        Lines{"--set: kafka.fallback.conf: names the brokers that kafka.conf names; give those of "
              "another cluster"});
  CHECK(ProblemLines(ReadText(kafka, {"kafka.fallback.conf={acks: all}"})) ==
        Lines{"--set: kafka.fallback.conf: names no brokers, so that the fallback would be the "
              "first cluster again: set metadata.broker.list in it"});
  CHECK(
      ProblemLines(ReadText(kafka, {"kafka.fallback.conf={}", "kafka.fallback.topic_prefix=x"})) ==
      Lines{"--set: kafka.fallback.topic_prefix: is set, but there is no fallback: set "
            "kafka.fallback.conf.metadata.broker.list"});
  CHECK(ProblemLines(ReadText(kafka, {"kafka.fallback.after=8s"})) ==
        Lines{"--set: kafka.fallback.after: is 8000 ms, not above message.timeout.ms of the "
              "guaranteed producer (8000 ms), so that later events of a stream would be in the "
              "fallback while earlier ones may still get into the first cluster; raise it"});
  CHECK(ReadText(kafka, {"kafka.fallback.after=999"}).problems.size() == 1);
  CHECK(ReadText(kafka, {"kafka.fallback.back_after=0"}).problems.size() == 1);
  CHECK(ReadText(kafka, {"kafka.fallback.conf.message.timeout.ms=20000"}).problems.size() == 1);
  const ConfigReading wrong = ReadText(kafka, {"kafka.fallback.conf.akcs=all"});
  REQUIRE(wrong.problems.size() == 1);
  CHECK(wrong.problems[0].key == "kafka.fallback.conf.akcs");
}

TEST_CASE("CheckConfig: output kafka without brokers says which entry is missing") {
  const ConfigReading reading = ReadText(With("output: kafka\n"));
  REQUIRE(reading.problems.size() == 1);
  CHECK(reading.problems[0].key == "kafka.conf.metadata.broker.list");
}

TEST_CASE("ReadConfig: stream configuration inside of the file is kept as it stands") {
  const ConfigReading reading =
      ReadText(With("stream_config:\n  a.b: {schema_title: t, n: [1, null, 'x']}\n  /^r\\./:\n"
                    "stream_config_default_settings: {topic_prefixes: [eqiad.]}\n"
                    "stream_topic_prefixes: follow\n"
                    "stream_config_files: /etc/streams.d\n"));
  CHECK(ProblemLines(reading) == Lines{});
  const core::StreamOptions& streams = reading.config.streams;
  CHECK(streams.inline_config == R"({"a.b":{"schema_title":"t","n":[1,null,"x"]},"/^r\\./":null})");
  CHECK(streams.default_settings == R"({"topic_prefixes":["eqiad."]})");
  CHECK(streams.follow_topic_prefixes);
  CHECK(streams.config_files == Lines{"/etc/streams.d"});

  const ConfigReading bad = ReadText(With(
      "stream_config: [a]\nstream_topic_prefixes: yes\nstream_config_files: http://h/streams\n"));
  const Lines lines = ProblemLines(bad);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].ends_with("stream_config: is a list; give a map"));
  CHECK(lines[1].ends_with("stream_topic_prefixes: is \"yes\"; give ignore or follow"));
  CHECK(lines[2].ends_with("a URL is for stream_config_uri"));
}

}  // namespace
}  // namespace sluice::daemon
