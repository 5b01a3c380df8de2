#include "cli/kafka_commands.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/config_options.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "core/json_text.h"
#include "daemon/config_reader.h"
#include "produce/kafka_check.h"
#include "streams/stream_registry.h"

namespace sluice::cli {
namespace {

using Verdict = produce::KafkaFinding::Verdict;

// The topics of the streams that the configuration names; those of regular expressions are not
// known beforehand.
core::Result<std::vector<std::string>> TopicsOf(const core::Config& config) {
  std::vector<std::string> topics;
  const auto add = [&](const std::string& stream, const streams::StreamSettings* settings) {
    std::string topic = streams::TopicOf(stream, settings, config.streams);
    if (std::find(topics.begin(), topics.end(), topic) == topics.end())
      topics.push_back(std::move(topic));
  };
  streams::StreamRegistry registry(config.streams);
  std::shared_ptr<const streams::StreamSnapshot> snapshot;
  if (registry.configured()) {
    if (auto loaded = registry.Load(); !loaded) return loaded.error();
    snapshot = registry.Current();
    for (std::size_t i = 0; i < snapshot->size(); ++i) {
      const streams::StreamSettings& stream = snapshot->entry(i);
      if (!stream.regex) add(stream.key, &stream);
    }
  }
  const std::string& errors = config.enrichment.error_stream;
  if (!errors.empty()) add(errors, snapshot == nullptr ? nullptr : snapshot->Find(errors));
  return topics;
}

std::string Line(const produce::KafkaFinding& finding) {
  std::string line(produce::ToString(finding.verdict));
  line.resize(9, ' ');
  if (finding.cluster == produce::KafkaTarget::kFallback) line += "fallback: ";
  if (!finding.topic.empty()) line += finding.topic + ": ";
  line += finding.text;
  if (!finding.fix.empty()) line += "\n         fix: " + finding.fix;
  return line + '\n';
}

std::string Json(const std::vector<produce::KafkaFinding>& findings) {
  std::string json = "{\"findings\":[";
  for (const produce::KafkaFinding& finding : findings) {
    if (json.back() != '[') json += ',';
    json += "\n{\"verdict\":";
    core::AppendJsonString(json, produce::ToString(finding.verdict));
    const auto add = [&](std::string_view key, const std::string& text) {
      if (text.empty()) return;
      json += ",\"" + std::string(key) + "\":";
      core::AppendJsonString(json, text);
    };
    if (finding.cluster == produce::KafkaTarget::kFallback) add("cluster", "fallback");
    add("topic", finding.topic);
    add("text", finding.text);
    add("fix", finding.fix);
    json += '}';
  }
  const bool bad = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.verdict == Verdict::kProblem;
  });
  return json + "\n],\"good\":" + (bad ? "false" : "true") + "}\n";
}

}  // namespace

const CommandSpec& KafkaCheckSpec() {
  static const CommandSpec spec = {
      "kafka check",
      "Ask the Kafka cluster whether it fits: brokers, topics, replicas, limits, rights.",
      "Looks at the topics of all streams of stream_config_uri, or at those that are named; at "
      "those of kafka.fallback too. Changes nothing.\n"
      "Each line tells what was found and, unless it is good, what will go wrong and how to fix "
      "it.\n"
      "Exit code 0: no problem (there may be warnings), 1: a problem, 2: the configuration is "
      "wrong.",
      {kConfigOption,
       kSetOption,
       {"--timeout", "SECONDS", "longest wait for one answer of the cluster; default 10"},
       {"--json", "", "print one JSON object"}},
      "TOPIC"};
  return spec;
}

int KafkaCheck(const Arguments& arguments) {
  const std::string_view timeout = arguments.Value("--timeout", "10");
  int seconds = 0;
  const auto [end, error] =
      std::from_chars(timeout.data(), timeout.data() + timeout.size(), seconds);
  if (error != std::errc() || end != timeout.data() + timeout.size() || seconds < 1 ||
      seconds > 3600) {
    Print(stderr, "--timeout is " + std::string(timeout) + "; give seconds, 1 to 3600\n");
    return kUsage;
  }
  const daemon::ConfigReading reading =
      daemon::ReadConfig({std::string(arguments.Value("--config")), arguments.Values("--set")});
  for (const daemon::ConfigProblem& problem : reading.problems)
    Print(stderr, problem.Line() + '\n');
  if (!reading.problems.empty()) return kUsage;
  std::vector<std::string> topics = arguments.operands();
  if (topics.empty()) {
    auto of_streams = TopicsOf(reading.config);
    if (!of_streams) {
      Print(stderr, of_streams.error().message + '\n');
      return kUsage;
    }
    topics = std::move(*of_streams);
  }
  const auto findings =
      produce::CheckKafka(reading.config.output.kafka, topics, std::chrono::seconds(seconds));
  if (arguments.Has("--json")) {
    Print(stdout, Json(findings));
  } else {
    for (const produce::KafkaFinding& finding : findings) Print(stdout, Line(finding));
  }
  return std::any_of(findings.begin(), findings.end(),
                     [](const auto& finding) { return finding.verdict == Verdict::kProblem; })
             ? kBad
             : kGood;
}

}  // namespace sluice::cli
