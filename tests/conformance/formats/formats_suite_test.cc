#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "validate/format.h"
#include "validate/pattern.h"

// The official suite's optional tests of formats and of regular expressions, asked of formats and
// patterns directly.
namespace sluice::validate {
namespace {

namespace json = boost::json;

std::filesystem::path DraftFolder(const std::string& draft) {
  const char* shared = std::getenv("SLUICE_SHARED");
  return std::filesystem::path(shared ? shared : "../shared") /
         "data/json-schema-test-suite/tests" / draft / "optional";
}

json::array ReadGroups(const std::filesystem::path& file) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return json::parse(text).as_array();
}

// What this group's schema says of a text, or nothing if it says more than one format or pattern.
std::optional<bool> Verdict(const json::object& schema, std::string_view text) {
  const json::value* format_name = schema.if_contains("format");
  const json::value* source = schema.if_contains("pattern");
  if (format_name != nullptr && source == nullptr) {
    const auto format = FormatFromName(format_name->as_string());
    if (!format) return std::nullopt;  // such a schema is unusable, as in the original
    return MatchesFormat(*format, FormatMode::kFull, text);
  }
  if (source != nullptr && format_name == nullptr) {
    const auto pattern = Pattern::Compile(source->as_string());
    REQUIRE(pattern.has_value());
    return (*pattern)->Search(text) == MatchResult::kMatch;
  }
  return std::nullopt;
}

int CheckFile(const std::filesystem::path& file) {
  int checked = 0;
  for (const json::value& group : ReadGroups(file)) {
    const json::value& schema = group.at("schema");
    if (!schema.is_object()) continue;
    for (const json::value& test : group.at("tests").as_array()) {
      if (!test.at("data").is_string()) continue;
      const std::string data(test.at("data").as_string());
      const auto verdict = Verdict(schema.as_object(), data);
      if (!verdict) continue;
      CAPTURE(file.string());
      CAPTURE(json::serialize(schema));
      CAPTURE(data);
      CHECK(*verdict == test.at("valid").as_bool());
      ++checked;
    }
  }
  return checked;
}

TEST_CASE("Official suite: every optional format in full mode, and regular expressions") {
  if (!std::filesystem::exists(DraftFolder("draft7"))) {
    std::cout << "SKIPPED: the JSON Schema test suite is not here\n";
    std::exit(77);
  }
  int checked = 0;
  for (const std::string draft : {"draft4", "draft6", "draft7"}) {
    const std::filesystem::path optional = DraftFolder(draft);
    for (const auto& file : std::filesystem::directory_iterator(optional / "format")) {
      checked += CheckFile(file.path());
    }
    checked += CheckFile(optional / "ecmascript-regex.json");
    checked += CheckFile(optional / "non-bmp-regex.json");
  }
  CHECK(checked > 1000);
}

}  // namespace
}  // namespace sluice::validate
