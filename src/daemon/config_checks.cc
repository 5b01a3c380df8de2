#include "daemon/config_checks.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/config_table.h"
#include "produce/kafka_conf.h"
#include "produce/kafka_waves.h"

namespace sluice::daemon {
namespace {

using std::chrono::milliseconds;

std::string Ms(milliseconds time) { return std::to_string(time.count()) + " ms"; }

bool IsAddress(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

bool IsNetwork(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string address(text.substr(0, slash));
  if (!IsAddress(address)) return false;
  if (slash == std::string_view::npos) return true;
  const std::string_view bits = text.substr(slash + 1);
  int length = -1;
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), length);
  const int longest = address.find(':') == std::string::npos ? 32 : 128;
  return error == std::errc() && end == bits.data() + bits.size() && length >= 0 &&
         length <= longest;
}

// As browsers send it: no path, no upper case.
bool IsOrigin(std::string_view text) {
  const std::size_t host = text.find("://");
  if (host == std::string_view::npos || host == 0 || host + 3 == text.size()) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(host + 3), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("-.:[]_").find(c) != std::string_view::npos;
  });
}

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// Empty if none are named.
std::string BrokersOf(const core::StringPairs& entries) {
  std::string brokers;
  for (const auto& [name, value] : entries) {
    if (name == "metadata.broker.list" || name == "bootstrap.servers") brokers = value;
  }
  return brokers;
}

class Checker {
 public:
  explicit Checker(ConfigReading& reading) : reading_(reading), config_(reading.config) {}

  void Run() {
    CheckListeners();
    CheckPaths();
    CheckSchemas();
    CheckStreams();
    CheckLimits();
    CheckRefused();
    CheckShutdown();
    if (config_.output.kind == core::OutputKind::kKafka) CheckKafka();
  }

 private:
  std::string PlaceOf(std::string_view key) const {
    const auto found = reading_.places.find(key);
    return found == reading_.places.end() ? std::string() : found->second;
  }

  bool IsAlreadyWrong(std::string_view key) const {
    return std::any_of(reading_.problems.begin(), reading_.problems.end(),
                       [&](const ConfigProblem& problem) { return problem.key == key; });
  }

  void Complain(std::string_view key, std::string text) {
    if (!IsAlreadyWrong(key))
      reading_.problems.push_back({PlaceOf(key), std::string(key), std::move(text)});
  }

  void CheckListeners() {
    const core::HttpOptions& http = config_.http;
    for (const auto& [key, address] : {std::pair("interface", &http.interface),
                                       std::pair("admin.interface", &http.admin_interface)}) {
      if (!IsAddress(*address)) {
        Complain(key,
                 "is \"" + *address +
                     "\", not an IP address; give one of this machine, for example 127.0.0.1 " +
                     "or 0.0.0.0 for all");
      }
    }
    for (const auto& [key, value] : {std::pair("cors", &http.cors), std::pair("csp", &http.csp)}) {
      if (*value && HasControlCharacter(**value)) {
        Complain(key,
                 "has a line break or another control character, which cannot stand in a header; "
                 "leave it out");
      }
    }
    for (const std::string& origin : http.cors_origins) {
      if (!IsOrigin(origin)) {
        Complain("cors_origins", "has \"" + origin +
                                     "\", not an origin as browsers send it; write it like "
                                     "https://www.example.org, in lower case, without a path");
      }
    }
    if (HasControlCharacter(http.home_page)) {
      Complain("home_page",
               "has a control character, which cannot stand in a header; leave it out");
    }
    if (http.port != 0 && http.port == http.admin_port) {
      Complain("admin.port",
               "is " + std::to_string(http.admin_port) + " as port is; give them different ports");
    }
    for (const std::string& network : http.trusted_proxies) {
      if (!IsNetwork(network)) {
        Complain("trusted_proxies",
                 "has \"" + network + "\", not a network; write it like 10.0.0.0/8");
      }
    }
  }

  void CheckPaths() {
    const std::vector<std::string>& paths = config_.http.event_paths;
    if (paths.empty())
      Complain("event_paths", "is empty; give at least one path, for example /v1/events");
    std::set<std::string_view> seen;
    for (const std::string& path : paths) {
      if (!path.starts_with('/') || path.size() < 2 ||
          path.find_first_of("?# ") != std::string::npos) {
        Complain("event_paths", "has \"" + path + "\"; write a path like /v1/events");
      } else if (!seen.insert(path).second) {
        Complain("event_paths", "has " + path + " twice; keep one");
      }
    }
  }

  void CheckSchemas() {
    if (config_.schemas.base_uris.empty()) {
      Complain("schema_base_uris",
               "is missing; name at least one folder, file:// or http(s):// URI where schemas are");
    }
    for (const std::string& uri : config_.schemas.base_uris) CheckScheme("schema_base_uris", uri);
    if (config_.schemas.uri_fields.empty())
      Complain("schema_uri_field", "is empty; give a field, for example $schema");
  }

  void CheckStreams() {
    CheckScheme("stream_config_uri", config_.streams.config_uri);
    for (const std::string& file : config_.streams.config_files) {
      if (file.find("://") != std::string::npos && !file.starts_with("file://")) {
        Complain(
            "stream_config_files",
            "has \"" + file + "\"; give paths or file:// URIs, a URL is for stream_config_uri");
      }
    }
    const core::StreamOptions& streams = config_.streams;
    if (!config_.declared_streams.tokens_file.empty() && streams.inline_config.empty() &&
        streams.config_files.empty() && streams.config_uri.empty()) {
      Complain("declared_streams.tokens_file",
               "is set, but there is no stream configuration that streams could be added to: set "
               "stream_config, which may be an empty map ({})");
    }
  }

  void CheckScheme(std::string_view key, std::string_view uri) {
    const std::size_t colon = uri.find("://");
    if (colon == std::string_view::npos) return;
    const std::string_view scheme = uri.substr(0, colon);
    if (scheme != "file" && scheme != "http" && scheme != "https") {
      Complain(key, "has the scheme " + std::string(scheme) +
                        "; give a path or a file, http or https URI");
    }
  }

  void CheckLimits() {
    const core::LimitOptions& limits = config_.limits;
    if (limits.memory_bytes < config_.http.max_body_bytes) {
      Complain("limits.memory_bytes",
               "is " + std::to_string(limits.memory_bytes) + " bytes, below max_body_size (" +
                   std::to_string(config_.http.max_body_bytes) +
                   "), so that no such body could be taken; raise it or lower max_body_size");
    }
  }

  // What would be kept is not charged against limits.memory_bytes.
  void CheckRefused() {
    const core::RefusedOptions& refused = config_.refused;
    constexpr double kMostBytes = 1u << 30;
    const double bytes = static_cast<double>(refused.keep) * refused.max_streams *
                         static_cast<double>(refused.max_event_bytes);
    if (bytes > kMostBytes) {
      Complain("refused.keep",
               "times refused.max_streams times refused.max_event_bytes is more than 1gb of "
               "memory; lower one of them");
    }
    for (const std::string& path : refused.mask) {
      if (path.empty() || path.front() == '.' || path.back() == '.') {
        Complain("refused.mask", "has \"" + path + "\"; write the path of a field, for example " +
                                     "http.client_ip");
      }
    }
  }

  void CheckShutdown() {
    const core::ShutdownOptions& shutdown = config_.shutdown;
    if (shutdown.not_ready_delay >= shutdown.deadline) {
      Complain("shutdown.not_ready_delay",
               "is " + Ms(shutdown.not_ready_delay) + ", not below shutdown.deadline (" +
                   Ms(shutdown.deadline) +
                   "), so that nothing could be drained; lower it or raise the deadline");
    }
  }

  void CheckKafka() {
    const core::KafkaOptions& kafka = config_.output.kafka;
    if (const core::Result<void> checked = produce::CheckKafkaConf(kafka); checked) {
      CheckMessageTimeout(kafka);
      CheckFallback(kafka);
    } else {
      std::istringstream lines(checked.error().message);
      for (std::string line; std::getline(lines, line);) ComplainOfEntry(line);
    }
    if (kafka.admit.hasty > kafka.admit.guaranteed) {
      Complain("kafka.admit.hasty",
               "is " + std::to_string(kafka.admit.hasty) + ", above kafka.admit.guaranteed (" +
                   std::to_string(kafka.admit.guaranteed) +
                   "), so that events that somebody waits for would be refused first; lower it");
    }
    if (kafka.flush_timeout > config_.shutdown.deadline) {
      Complain("kafka.flush_timeout",
               "is " + Ms(kafka.flush_timeout) + ", above shutdown.deadline (" +
                   Ms(config_.shutdown.deadline) + "); lower it or raise the deadline");
    }
  }

  void CheckFallback(const core::KafkaOptions& kafka) {
    const core::KafkaFallbackOptions& fallback = kafka.fallback;
    if (!fallback.configured()) {
      if (!fallback.topic_prefix.empty()) {
        Complain("kafka.fallback.topic_prefix",
                 "is set, but there is no fallback: set kafka.fallback.conf.metadata.broker.list");
      }
      return;
    }
    const std::string brokers = BrokersOf(fallback.conf);
    if (brokers.empty()) {
      Complain("kafka.fallback.conf",
               "names no brokers, so that the fallback would be the first cluster again: set "
               "metadata.broker.list in it");
    } else if (brokers == BrokersOf(kafka.conf)) {
      Complain("kafka.fallback.conf",
               "names the brokers that kafka.conf names; give those of another cluster");
    }
    CheckFallbackTimes(kafka);
  }

  // What somebody waits for is done with the first cluster before others of its stream go to the
  // second one.
  void CheckFallbackTimes(const core::KafkaOptions& kafka) {
    const milliseconds given_up =
        produce::KafkaMessageTimeout(kafka, produce::DeliveryMode::kGuaranteed);
    if (kafka.fallback.after <= given_up) {
      Complain("kafka.fallback.after",
               "is " + Ms(kafka.fallback.after) +
                   ", not above message.timeout.ms of the guaranteed producer (" + Ms(given_up) +
                   "), so that later events of a stream would be in the fallback while earlier "
                   "ones may still get into the first cluster; raise it");
    }
    const milliseconds there = produce::KafkaMessageTimeout(
        kafka, produce::DeliveryMode::kGuaranteed, produce::KafkaTarget::kFallback);
    if (there.count() == 0 ||
        there + produce::KafkaWaves::kLongestHold >= config_.limits.delivery_timeout) {
      Complain("kafka.fallback.conf",
               "makes message.timeout.ms of the guaranteed producer " + Ms(there) + ", not " +
                   Ms(produce::KafkaWaves::kLongestHold) + " below limits.delivery_timeout (" +
                   Ms(config_.limits.delivery_timeout) +
                   "), so that an event could be delivered after its 503; lower it or raise "
                   "limits.delivery_timeout");
    }
  }

  // `line` begins with the name of an entry ("kafka.conf.acks: …"), or is about several.
  void ComplainOfEntry(const std::string& line) {
    const std::size_t name_end = std::min(line.find_first_of(": "), line.size());
    const std::string name = line.substr(0, name_end);
    std::string_view entry;
    const ConfigKey* key = FindKeyOfEntry(name, entry);
    if (key == nullptr) {
      reading_.problems.push_back({PlaceOf("kafka.conf"), "kafka.conf", line});
      return;
    }
    const std::size_t text_begin = line.find_first_not_of(": ", name_end);
    reading_.problems.push_back(
        {PlaceOf(std::string(key->name) + ' ' + std::string(entry)), name,
         text_begin == std::string::npos ? std::string() : line.substr(text_begin)});
  }

  // A record that is given up after the answer would be reported as failed and delivered all the
  // same.
  void CheckMessageTimeout(const core::KafkaOptions& kafka) {
    const milliseconds given_up =
        produce::KafkaMessageTimeout(kafka, produce::DeliveryMode::kGuaranteed);
    const milliseconds answer = config_.limits.delivery_timeout;
    // 0: never. On its way to librdkafka a record may be held for a moment.
    if (given_up.count() > 0 && given_up + produce::KafkaWaves::kLongestHold < answer) return;
    const std::string consequence = ", so that an event could be delivered after its 503; ";
    for (const auto& [map_name, pairs] :
         {std::pair("kafka.guaranteed.topic_conf", &kafka.guaranteed_topic_conf),
          std::pair("kafka.guaranteed.conf", &kafka.guaranteed_conf),
          std::pair("kafka.topic_conf", &kafka.topic_conf), std::pair("kafka.conf", &kafka.conf)}) {
      for (const auto& [name, value] : *pairs) {
        if (name != "message.timeout.ms" && name != "delivery.timeout.ms") continue;
        const std::string key = std::string(map_name) + '.' + name;
        reading_.problems.push_back(
            {PlaceOf(std::string(map_name) + ' ' + name), key,
             "is " + value + " ms, not " + Ms(produce::KafkaWaves::kLongestHold) +
                 " below limits.delivery_timeout (" + Ms(answer) + ")" + consequence +
                 "lower it or raise limits.delivery_timeout"});
        return;
      }
    }
    Complain("limits.delivery_timeout",
             "is " + Ms(answer) + ", not " + Ms(produce::KafkaWaves::kLongestHold) +
                 " above message.timeout.ms of the guaranteed producer (" + Ms(given_up) +
                 " by default)" + consequence +
                 "raise it, or lower kafka.guaranteed.conf.message.timeout.ms");
  }

  ConfigReading& reading_;
  const core::Config& config_;
};

}  // namespace

bool NamesBrokers(const core::KafkaOptions& options) {
  return !BrokersOf(options.conf).empty() || !BrokersOf(options.guaranteed_conf).empty();
}

void CheckConfig(ConfigReading& reading) { Checker(reading).Run(); }

}  // namespace sluice::daemon
