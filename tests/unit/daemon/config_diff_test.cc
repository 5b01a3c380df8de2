#include "daemon/config_diff.h"

#include <algorithm>
#include <variant>

#include "config_text.h"
#include "daemon/config_docs.h"
#include "daemon/config_table.h"

namespace sluice::daemon {
namespace {

using Names = std::vector<std::string>;

core::Config Read(std::string_view text) {
  const ConfigReading reading = ReadText(text);
  REQUIRE(ProblemLines(reading) == Names{});
  return reading.config;
}

TEST_CASE("CompareConfigs: nothing differs, nothing changes") {
  const core::Config config = Read(kMinimal);
  const ConfigChange change = CompareConfigs(config, config);
  CHECK(change.applied == Names{});
  CHECK(change.needs_restart == Names{});
  CHECK(EffectiveConfig(*change.config) == EffectiveConfig(config));
}

TEST_CASE("CompareConfigs: keys that reload change, the others are named and stay") {
  const core::Config present = Read(kMinimal);
  const core::Config next = Read(
      "schema_base_uris: [/other]\nport: 1\ncors: false\nlimits.max_events: 7\n"
      "enrichment.request_headers: {a: b}\nkafka.conf: {client.id: x}\n");
  const ConfigChange change = CompareConfigs(present, next);
  CHECK(change.applied == Names{"cors", "limits.max_events", "enrichment.request_headers"});
  CHECK(change.needs_restart == Names{"port", "schema_base_uris", "kafka.conf"});
  CHECK(change.config->http.port == 8888);
  CHECK(change.config->schemas.base_uris == Names{"/schemas"});
  CHECK(change.config->output.kafka.conf.empty());
  CHECK(!change.config->http.cors);
  CHECK(change.config->limits.max_events == 7);
  CHECK(change.config->enrichment.request_headers == core::StringPairs{{"a", "b"}});
  CHECK(change.Touches("limits."));
  CHECK(!change.Touches("kafka."));
}

TEST_CASE("CompareConfigs: secrets count though they are not shown") {
  const core::Config present =
      Read("schema_base_uris: [/s]\nstream_config_uri_options.headers: {authorization: one}\n");
  const core::Config next =
      Read("schema_base_uris: [/s]\nstream_config_uri_options.headers: {authorization: two}\n");
  CHECK(CompareConfigs(present, next).applied == Names{"stream_config_uri_options.headers"});
}

TEST_CASE("CompareConfigs: streams reload, but whether there are any needs a restart") {
  const core::Config none = Read(kMinimal);
  const core::Config some = Read("schema_base_uris: [/schemas]\nstream_config: {a: {}}\n");
  const core::Config other = Read("schema_base_uris: [/schemas]\nstream_config_uri: /streams\n");
  CHECK(CompareConfigs(none, some).needs_restart == Names{"stream_config"});
  CHECK(CompareConfigs(some, none).needs_restart == Names{"stream_config"});
  CHECK(CompareConfigs(some, other).applied == Names{"stream_config", "stream_config_uri"});
}

TEST_CASE("CompareConfigs: every key that reloads is taken over alone") {
  // Another value of each type, put in behind the back of its bounds.
  const auto alter = [](const ConfigKey& key, core::Config& config) {
    std::visit(
        [&](const auto member) {
          auto& value = member(config);
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, bool>) {
            value = !value;
          } else if constexpr (std::is_enum_v<Value>) {
            value = static_cast<Value>(static_cast<int>(value) == 0 ? 1 : 0);
          } else if constexpr (std::is_same_v<Value, std::chrono::milliseconds>) {
            value += std::chrono::milliseconds(1);
          } else if constexpr (std::is_arithmetic_v<Value>) {
            value += 1;
          } else if constexpr (std::is_same_v<Value, core::StringPairs>) {
            value.emplace_back("name", "value");
          } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
            value.emplace_back("{}");
          } else {
            value = "{\"a\":1}";
          }
        },
        key.target);
  };
  for (const ConfigKey& key : ConfigKeys()) {
    CAPTURE(key.name);
    core::Config present;
    present.streams.config_uri = "/streams";
    present.streams.inline_config = "{}";
    core::Config next = present;
    alter(key, next);
    const ConfigChange change = CompareConfigs(present, next);
    const Names names{std::string(key.name)};
    CHECK(change.applied == (key.reload == Reload::kLive ? names : Names{}));
    CHECK(change.needs_restart == (key.reload == Reload::kLive ? Names{} : names));
    CHECK(EffectiveConfig(*change.config) ==
          EffectiveConfig(key.reload == Reload::kLive ? next : present));
  }
}

}  // namespace
}  // namespace sluice::daemon
