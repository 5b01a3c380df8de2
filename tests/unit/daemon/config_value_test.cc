#include "daemon/config_value.h"

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>

#include "config_text.h"
#include "daemon/secret_values.h"
#include "daemon/yaml_json.h"

namespace sluice::daemon {
namespace {

// What is wrong with `yaml` as the value of `name`, or the value as it reads back.
std::string Stored(std::string_view name, const std::string& yaml) {
  core::Config config;
  const ConfigKey* key = FindKey(name);
  REQUIRE(key != nullptr);
  const std::optional<std::string> complaint = StoreValue(*key, YAML::Load(yaml), config);
  return complaint ? "! " + *complaint : FormatValue(*key, config, Secrets::kShow);
}

TEST_CASE("StoreValue: sizes are bytes or have binary units") {
  CHECK(Stored("max_body_size", "100kb") == "100kb");
  CHECK(Stored("max_body_size", "102400") == "100kb");
  CHECK(Stored("max_body_size", "10MB") == "10mb");
  CHECK(Stored("max_body_size", "1.5 mb") == "1536kb");
  CHECK(Stored("max_body_size", "1000b") == "1000");
  const std::string complaint = "give bytes, or a size such as 100kb or 10mb";
  for (const char* wrong :
       {"ten", "10tb", "1.5", "kb", "99999999999999999999", "9999999999999gb", "-1.5kb"}) {
    CHECK(Stored("max_body_size", wrong) == "! is \"" + std::string(wrong) + "\"; " + complaint);
  }
  CHECK(Stored("max_body_size", "[1]") == "! is a list; give a number");
  CHECK(Stored("max_body_size", "0") == "! 0 is too small; give 1 to 2147483647");
  CHECK(Stored("max_body_size", "2gb") == "! 2gb is too large; give 1 to 2147483647");
}

TEST_CASE("StoreValue: times are milliseconds or have units") {
  CHECK(Stored("limits.idle_timeout", "1500") == "1500ms");
  CHECK(Stored("limits.idle_timeout", "620s") == "620s");
  CHECK(Stored("limits.idle_timeout", "2m") == "2m");
  CHECK(Stored("limits.idle_timeout", "1.5s") == "1500ms");
  CHECK(Stored("limits.idle_timeout", "25h") == "! 25h is too large; give 10ms to 24h");
}

TEST_CASE("StoreValue: a switch is true or false, not a text") {
  CHECK(Stored("schema_precache_all", "False") == "false");
  CHECK(Stored("schema_precache_all", "yes") == "! is \"yes\"; give true or false");
  CHECK(Stored("schema_precache_all", "'false'") == "! is \"false\"; give true or false");
  CHECK(Stored("schema_formats", "full") == "full");
  CHECK(Stored("schema_formats", "true") == "! is \"true\"; give fast or full");
}

TEST_CASE("StoreValue: false switches an optional text off") {
  CHECK(Stored("cors", "false") == "false");
  CHECK(Stored("cors", "https://example.org") == "https://example.org");
  CHECK(Stored("cors", "{a: b}") == "! is a map; give a text, or false");
}

TEST_CASE("StoreValue: words are those of the key") {
  CHECK(Stored("enrichment.meta_dt", "always") == "always");
  CHECK(Stored("enrichment.meta_id", "never") == "never");
  CHECK(Stored("enrichment.meta_id", "always") == "! is \"always\"; give missing or never");
  CHECK(Stored("output", "kafkaa") == "! is \"kafkaa\"; give kafka, files or discard");
  CHECK(Stored("logging.level", "debug") == "debug");
}

TEST_CASE("StoreValue: a list may be one text; its elements are texts") {
  CHECK(Stored("schema_uri_field", "$schema") == "[$schema]");
  CHECK(Stored("schema_uri_field", "[$schema, 'a b', 7]") == "[$schema, \"a b\", \"7\"]");
  CHECK(Stored("schema_uri_field", "[[a]]") == "! has an element that is a list; give texts only");
}

TEST_CASE("StoreValue: test events keep their types") {
  CHECK(Stored("test_events", "[{a: 1, b: '1', c: [true, null, 1.5, x]}]") ==
        R"([{"a":1,"b":"1","c":[true,null,1.5E0,"x"]}])");
  CHECK(Stored("test_events", "[1]") == "! has an element that is \"1\"; give events (maps)");
}

TEST_CASE("StoreValue: a failed store changes nothing") {
  core::Config config;
  config.schemas.base_uris = {"before"};
  CHECK(StoreValue(*FindKey("schema_base_uris"), YAML::Load("[a, [b]]"), config).has_value());
  CHECK(config.schemas.base_uris == std::vector<std::string>{"before"});
}

TEST_CASE("FormatValue: secrets are masked where asked") {
  core::Config config;
  config.output.kafka.conf = {
      {"sasl.password", "p1"}, {"ssl.key.password", "p2"}, {"linger.ms", "5"}};
  config.streams.config_headers = {{"Authorization", "Bearer t"}, {"Host", "h"}};
  config.schemas.base_uris = {"https://user:pw@host/a@b"};
  CHECK(FormatValue(*FindKey("kafka.conf"), config, Secrets::kMask) ==
        R"({sasl.password: "***", ssl.key.password: "***", linger.ms: "5"})");
  CHECK(FormatValue(*FindKey("stream_config_uri_options.headers"), config, Secrets::kMask) ==
        R"({Authorization: "***", Host: h})");
  CHECK(FormatValue(*FindKey("schema_base_uris"), config, Secrets::kMask) ==
        R"(["https://***@host/a@b"])");
  CHECK(FormatValue(*FindKey("kafka.conf"), config, Secrets::kShow).find("p1") !=
        std::string::npos);
}

TEST_CASE("MaskUserInfo: only the authority of a URI is touched") {
  CHECK(MaskUserInfo("http://host/path@x") == "http://host/path@x");
  CHECK(MaskUserInfo("http://u@host") == "http://***@host");
  CHECK(MaskUserInfo("a@b") == "a@b");
}

TEST_CASE("QuoteYaml: what is written reads back as the same text") {
  for (const std::string text :
       {"",     "true",    "Null",    "~",   "1",     "1e5",   "-a",
        "a: b", "a#b",     "# x",     "a b", "*",     "&x",    "http://h:1/x?y=z&q",
        "x:",   "$schema", "0.0.0.0", "{",   "é\n\"", "eqiad."}) {
    const YAML::Node node = YAML::Load("[" + QuoteYaml(text) + "]")[0];
    CHECK(node.Scalar() == text);
    CHECK(!node.IsNull());
    if (text == "true" || text == "1") CHECK(node.Tag() == "!");
  }
}

}  // namespace
}  // namespace sluice::daemon
