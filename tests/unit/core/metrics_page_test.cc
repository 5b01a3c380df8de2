#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "core/metrics.h"

namespace sluice::core {
namespace {

std::filesystem::path Source() {
  const char* source = std::getenv("SLUICE_SOURCE");
  REQUIRE(source != nullptr);
  return source;
}

std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> AllMatches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    found.insert((*at)[1]);
  }
  return found;
}

std::set<std::string> NamesOnPage() {
  return AllMatches(ReadWhole(Source() / "docs/metrics.md"),
                    std::regex(R"(\n\| `([a-z0-9_]+\*?)` \|)"));
}

// Whole names of metrics that stand as literals in the sources.
std::set<std::string> NamesInSources() {
  const std::regex literal(R"re("((?:sluice|eventgate|express)_[a-z0-9_]*[a-z0-9])")re");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Source() / "src")) {
    if (entry.path().extension() == ".cc")
      names.merge(AllMatches(ReadWhole(entry.path()), literal));
  }
  names.erase("eventgate_factory_module");  // a configuration key
  names.erase("eventgate_names");
  return names;
}

std::set<std::string> NamesInScrape() {
  Metrics metrics({}, "svc");
  metrics.Route("s", "/a", true).events_produced->Increment();
  metrics.CountFailure("s", "/a", true, ErrorCode::kValidationFailed);
  metrics.CountRequest("root", "GET", 404, 0.1);
  return AllMatches(metrics.Scrape(), std::regex(R"(# TYPE (\S+) )"));
}

TEST_CASE("docs/metrics.md: has every metric, and none that is not there") {
  const std::set<std::string> page = NamesOnPage();
  std::set<std::string> code = NamesInScrape();
  for (const std::string& name : code)
    CHECK_MESSAGE(page.contains(name), "not on the page: ", name);
  for (const std::string& name : NamesInSources()) {
    CHECK_MESSAGE(page.contains(name), "not on the page: ", name);
    code.insert(name);
  }
  for (const std::string& name : page) {
    if (name == "eventgate_rdkafka_*") continue;  // librdkafka decides what follows
    CHECK_MESSAGE(code.contains(name), "not in the code: ", name);
  }
}

}  // namespace
}  // namespace sluice::core
