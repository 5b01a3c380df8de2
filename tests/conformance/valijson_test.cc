#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "conformance/engine_runner.h"
#include "conformance/recording.h"
#include "conformance/schema_folder.h"

// A second oracle for verdicts: valijson on the recorded events, formats left out on both sides.
namespace sluice {
namespace {

using Adapter = valijson::adapters::BoostJsonAdapter;

// valijson takes no double for an integer, be it as whole as 1.0: such numbers are made integers
// before. Returns false if one is beyond 64 bits, where valijson cannot tell.
bool MakeIntegers(boost::json::value& value) {
  if (auto* array = value.if_array()) {
    return std::all_of(array->begin(), array->end(), MakeIntegers);
  }
  if (auto* object = value.if_object()) {
    return std::all_of(object->begin(), object->end(),
                       [](auto& member) { return MakeIntegers(member.value()); });
  }
  if (!value.is_double() || std::trunc(value.get_double()) != value.get_double()) return true;
  if (std::fabs(value.get_double()) >= 9.2e18) return false;
  value = static_cast<std::int64_t>(value.get_double());
  return true;
}

void DropFormats(boost::json::value& value) {
  if (auto* array = value.if_array()) {
    for (auto& element : *array) DropFormats(element);
  } else if (auto* object = value.if_object()) {
    const auto* format = object->if_contains("format");
    if (format != nullptr && format->is_string()) object->erase("format");
    for (auto& member : *object) DropFormats(member.value());
  }
}

struct Pair {
  std::shared_ptr<const validate::CompiledSchema> ours;
  std::unique_ptr<valijson::Schema> theirs;
};

TEST_CASE("Engine: verdicts agree with valijson on the recorded events") {
  const std::string shared = test::SharedFolder();
  const std::string path = shared + "/data/golden/validation.ndjson";
  if (shared.empty() || !std::filesystem::exists(path)) {
    std::cout << "SKIPPED: the recorded verdicts are not here\n";
    std::exit(77);
  }
  test::SchemaFolder folder(shared + "/data/schemas-primary/jsonschema");
  std::map<std::string, Pair> pairs;
  test::EngineRunner runner;
  std::size_t compared = 0;
  std::size_t invalid = 0;
  const std::string text = test::ReadFile(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const test::Recording line(text.substr(at, end - at));
    at = end + 1;
    const std::string uri = line.String("schema");
    const auto [known, fresh] = pairs.try_emplace(uri);
    Pair& pair = known->second;
    if (fresh && folder.Document(uri) != nullptr) {
      boost::json::value schema = *folder.Document(uri);
      DropFormats(schema);
      std::string problem;
      pair.ours = test::Compile(uri, schema, {}, nullptr, problem);
      if (pair.ours) {
        pair.theirs = std::make_unique<valijson::Schema>();
        valijson::SchemaParser().populateSchema(Adapter(schema), *pair.theirs);
      }
    }
    const std::string raw = line.String("raw");
    // valijson measures strings up to a NUL.
    if (!pair.ours || raw.find("\\u0000") != std::string::npos) continue;
    boost::json::value event = test::ParseJson(raw);
    if (!MakeIntegers(event)) continue;
    const bool theirs = valijson::Validator().validate(*pair.theirs, Adapter(event), nullptr);
    const auto ours = runner.Run(*pair.ours, raw, validate::UseDefaults::kNo);
    const bool valid = ours.status == test::Outcome::Status::kValid;
    ++compared;
    if (!valid) ++invalid;
    CHECK_MESSAGE(valid == theirs, uri, " ", raw, " ", ours.errors_text);
  }
  CHECK(compared > 1000);
  CHECK(invalid > 100);
  std::cout << compared << " verdicts compared, " << invalid << " invalid\n";
}

}  // namespace
}  // namespace sluice
