#include <doctest/doctest.h>

#include <filesystem>
#include <iostream>

#include "conformance/engine_runner.h"
#include "conformance/recording.h"
#include "conformance/schema_folder.h"

// The engine against the verdicts that were recorded from the original validator.
namespace sluice {
namespace {

using test::Outcome;

TEST_CASE("Engine: agrees with every recorded verdict") {
  const std::string shared = test::SharedFolder();
  const std::string path = shared + "/data/golden/validation.ndjson";
  if (shared.empty() || !std::filesystem::exists(path)) {
    std::cout << "SKIPPED: the recorded verdicts are not here\n";
    std::exit(77);
  }
  test::SchemaFolder schemas(shared + "/data/schemas-primary/jsonschema");
  test::EngineRunner runner;
  std::size_t total = 0;
  std::size_t agree = 0;
  std::string text = test::ReadFile(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const test::Recording wanted(text.substr(at, end - at));
    at = end + 1;
    REQUIRE(wanted.ok());
    ++total;
    const auto schema = schemas.Compiled(wanted.String("schema"));
    std::string difference;
    if (wanted.Find("load_error") != nullptr) {
      difference = schema == nullptr ? "" : "the schema was taken";
    } else if (schema == nullptr) {
      difference = "the schema was refused";
    } else {
      const Outcome outcome = runner.Run(*schema, wanted.String("raw"));
      difference = test::Difference(wanted, wanted.root(), outcome);
      if (difference.empty() && !runner.passes_agree()) difference = "passes";
      if (!difference.empty()) {
        MESSAGE(difference, "\n want ", wanted.text(), "\n got ", outcome.errors_json, "\n ",
                outcome.errors_text, outcome.message, outcome.after);
      }
    }
    if (difference.empty()) ++agree;
    CHECK_MESSAGE(difference.empty(), difference, " ", wanted.String("schema"));
  }
  CHECK(total > 0);
  std::cout << agree << " of " << total << " agree\n";
}

}  // namespace
}  // namespace sluice
