#include "daemon/config_docs.h"

#include <string>
#include <vector>

#include "config_text.h"
#include "daemon/config_table.h"

namespace sluice::daemon {
namespace {

using Lines = std::vector<std::string>;

std::string SourcePath(const std::string& path) {
  const char* source = std::getenv("SLUICE_SOURCE");
  REQUIRE(source != nullptr);
  return std::string(source) + '/' + path;
}

TEST_CASE("docs/configuration.md: is what --print-docs prints") {
  const bool is_the_same =
      ReadWholeFile(SourcePath("docs/configuration.md")) == ConfigurationPage();
  CHECK(is_the_same);
}

TEST_CASE("config/production.yaml: is what --print-example prints, and is good") {
  const bool is_the_same =
      ReadWholeFile(SourcePath("config/production.yaml")) == ProductionExample();
  CHECK(is_the_same);
  const ConfigReading reading = ReadConfig({SourcePath("config/production.yaml"), {}});
  CHECK(ProblemLines(reading) == Lines{});
  CHECK(reading.ignored.empty());
  for (const ConfigKey& key : ConfigKeys())
    CHECK_MESSAGE(reading.places.contains(key.name), key.name);
}

TEST_CASE("EffectiveConfig: reads back to the same configuration") {
  const ConfigReading first = ReadConfig({SourcePath("config/production.yaml"), {}});
  const std::string printed = EffectiveConfig(first.config);
  const ConfigReading second = ReadText(printed);
  CHECK(ProblemLines(second) == Lines{});
  CHECK(EffectiveConfig(second.config) == printed);
}

TEST_CASE("Configuration keys: every row has a name of its own and a sentence") {
  Lines names;
  for (const ConfigKey& key : ConfigKeys()) {
    names.emplace_back(key.name);
    CHECK_MESSAGE(key.text.ends_with('.'), key.name);
    CHECK_MESSAGE(FindKey(key.name) == &key, key.name);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

}  // namespace
}  // namespace sluice::daemon
