#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "conformance/engine_runner.h"
#include "conformance/suite_exceptions.h"
#include "validate/schema_text.h"

// The official JSON Schema test suite: mandatory tests all pass; optional ones pass, or stand in
// the table of exceptions with a reason.
namespace sluice {
namespace {

using test::Outcome;

struct Draft {
  const char* folder;
  const char* meta_schema;
};

constexpr Draft kDrafts[] = {{"draft4", "http://json-schema.org/draft-04/schema#"},
                             {"draft6", "http://json-schema.org/draft-06/schema#"},
                             {"draft7", "http://json-schema.org/draft-07/schema#"}};

// Suites leave out $schema: the folder says which draft is meant.
void NameDraft(boost::json::value& schema, const Draft& draft) {
  auto* object = schema.if_object();
  if (object != nullptr && !object->contains("$schema"))
    object->emplace("$schema", draft.meta_schema);
}

class Suite {
 public:
  Suite(std::string root, const Draft& draft) : root_(std::move(root)), draft_(draft) {}

  // Runs the files below `folder`; returns the names of tests that fail.
  std::set<std::string> Run(const std::string& folder, bool recursive) {
    std::set<std::string> failures;
    std::vector<std::filesystem::path> files;
    const std::string path = root_ + "/tests/" + draft_.folder + folder;
    if (!std::filesystem::is_directory(path)) return failures;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      const bool direct = entry.path().parent_path() == std::filesystem::path(path);
      if (entry.is_regular_file() && (direct || recursive)) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) RunFile(file, failures);
    return failures;
  }

  std::size_t total() const { return total_; }

 private:
  const boost::json::value* Remote(std::string_view uri) {
    constexpr std::string_view kHost = "http://localhost:1234/";
    if (!uri.starts_with(kHost)) return nullptr;
    const auto [known, fresh] = remotes_.try_emplace(std::string(uri));
    if (fresh) {
      const std::string path = root_ + "/remotes/" + std::string(uri.substr(kHost.size()));
      if (!std::filesystem::is_regular_file(path)) return nullptr;
      known->second = test::ParseJson(test::ReadFile(path));
      NameDraft(known->second, draft_);
    }
    return known->second.is_null() ? nullptr : &known->second;
  }

  void RunFile(const std::filesystem::path& file, std::set<std::string>& failures) {
    const std::string shown =
        std::filesystem::relative(file, root_ + "/tests").replace_extension().string();
    const boost::json::value groups = test::ParseJson(test::ReadFile(file));
    validate::CompileOptions options;
    options.formats = validate::FormatMode::kFull;
    options.secure_check = false;
    for (const auto& group : groups.get_array()) {
      boost::json::value schema = group.at("schema");
      NameDraft(schema, draft_);
      std::string problem;
      const auto compiled = test::Compile(
          "", schema, options, [this](std::string_view uri) { return Remote(uri); }, problem);
      for (const auto& entry : group.at("tests").get_array()) {
        ++total_;
        const std::string name = shown + ": " + std::string(group.at("description").get_string()) +
                                 ": " + std::string(entry.at("description").get_string());
        if (!compiled) {
          failures.insert(name);
          continue;
        }
        std::string event;
        validate::AppendJson(event, entry.at("data"));
        const Outcome outcome = runner_.Run(*compiled, event, validate::UseDefaults::kNo);
        const bool valid = outcome.status == Outcome::Status::kValid;
        if (valid != entry.at("valid").get_bool() || !runner_.passes_agree()) failures.insert(name);
      }
    }
  }

  std::string root_;
  const Draft& draft_;
  std::map<std::string, boost::json::value> remotes_;
  test::EngineRunner runner_;
  std::size_t total_ = 0;
};

std::string SuiteFolder() {
  const std::string folder = test::SharedFolder() + "/data/json-schema-test-suite";
  if (!std::filesystem::is_directory(folder)) {
    std::cout << "SKIPPED: the JSON Schema test suite is not here\n";
    std::exit(77);
  }
  return folder;
}

TEST_CASE("Engine: passes every mandatory test of the official suite") {
  const std::string root = SuiteFolder();
  for (const Draft& draft : kDrafts) {
    Suite suite(root, draft);
    for (const std::string& name : suite.Run("", false)) FAIL_CHECK(name);
    CHECK(suite.total() > 500);
    std::cout << draft.folder << ": " << suite.total() << " mandatory tests\n";
  }
}

TEST_CASE("Engine: passes the optional tests but for the listed exceptions") {
  const std::string root = SuiteFolder();
  for (const Draft& draft : kDrafts) {
    Suite suite(root, draft);
    std::set<std::string> failures = suite.Run("/optional", true);
    std::size_t excepted = 0;
    for (const test::SuiteException& exception : test::kSuiteExceptions) {
      if (!exception.test.starts_with(draft.folder)) continue;
      ++excepted;
      CHECK_MESSAGE(failures.erase(std::string(exception.test)) == 1,
                    "listed as an exception but passes: ", exception.test);
    }
    for (const std::string& name : failures) FAIL_CHECK(name);
    std::cout << draft.folder << ": " << suite.total() << " optional tests, " << excepted
              << " exceptions\n";
  }
}

}  // namespace
}  // namespace sluice
