#include "streams/stream_check.h"

#include <doctest/doctest.h>

namespace sluice::streams {
namespace {

constexpr EventIdentity kEvent{"abc-1", "/test/event/1.0.0", "test.event"};
constexpr std::string_view kAbout =
    "event abc-1 of schema at /test/event/1.0.0 destined to stream test.event";

StreamSettings SettingsWith(std::optional<std::string> title) {
  StreamSettings settings;
  settings.key = "test.event";
  settings.has_settings = true;
  settings.schema_title = std::move(title);
  return settings;
}

std::string Refused(std::string_view why) {
  return std::string(kAbout) + " is not allowed in stream; " + std::string(why);
}

}  // namespace

TEST_CASE("Describe: leaves out an absent id, says unknown for the rest") {
  CHECK(Describe(kEvent) == kAbout);
  CHECK(Describe({"", "/a/1.0.0", "s"}) == "event of schema at /a/1.0.0 destined to stream s");
  CHECK(Describe({"", "", ""}) == "event of schema at unknown destined to stream unknown");
}

TEST_CASE("CheckConfigured: each text is the original's") {
  const auto unknown = CheckConfigured(kEvent, nullptr);
  REQUIRE(unknown.has_error());
  CHECK(unknown.error().code == core::ErrorCode::kStreamNotConfigured);
  CHECK(unknown.error().message == Refused("test.event is not configured."));

  StreamSettings none;
  const auto without = CheckConfigured(kEvent, &none);
  REQUIRE(without.has_error());
  CHECK(without.error().message ==
        Refused("test.event is configured but does not have any settings."));

  for (const auto& title : {std::optional<std::string>(), std::optional<std::string>("")}) {
    const StreamSettings untitled = SettingsWith(title);
    const auto result = CheckConfigured(kEvent, &untitled);
    REQUIRE(result.has_error());
    CHECK(result.error().code == core::ErrorCode::kStreamNotConfigured);
    CHECK(result.error().message == Refused("test.event does not have a schema_title setting."));
  }
  const StreamSettings good = SettingsWith("test/event");
  CHECK(CheckConfigured(kEvent, &good).has_value());
}

TEST_CASE("CheckSchemaTitle: each text is the original's") {
  const StreamSettings settings = SettingsWith("test/event");
  CHECK(CheckSchemaTitle(kEvent, settings, "test/event").has_value());
  const auto other = CheckSchemaTitle(kEvent, settings, "test/other");
  REQUIRE(other.has_error());
  CHECK(other.error().code == core::ErrorCode::kStreamSchemaMismatch);
  CHECK(other.error().message == Refused("schema title must be test/event."));
  const auto untitled = CheckSchemaTitle(kEvent, settings, std::nullopt);
  REQUIRE(untitled.has_error());
  CHECK(untitled.error().code == core::ErrorCode::kStreamSchemaMismatch);
  CHECK(untitled.error().message ==
        "Schema at /test/event/1.0.0 must define a 'title' field. From " + std::string(kAbout));
}

TEST_CASE("ConfigUnavailable: names the reason") {
  const auto error = ConfigUnavailable(kEvent, "time-out");
  CHECK(error.code == core::ErrorCode::kStreamConfigUnavailable);
  CHECK(error.message == Refused("got error when fetching stream config: time-out"));
}

}  // namespace sluice::streams
