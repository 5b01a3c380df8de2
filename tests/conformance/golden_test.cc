#include <doctest/doctest.h>

#include <filesystem>
#include <iostream>
#include <map>

#include "conformance/engine_runner.h"
#include "core/yaml_json.h"
#include "validate/evaluate_equal.h"

// The engine against the verdicts that were recorded from the original validator.
namespace sluice {
namespace {

using test::Outcome;

class SchemaFolder {
 public:
  explicit SchemaFolder(std::string base) : base_(std::move(base)) {}

  const boost::json::value* Document(std::string_view uri) {
    const auto [known, fresh] = documents_.try_emplace(std::string(uri));
    if (!fresh) return known->second.is_null() ? nullptr : &known->second;
    std::string path = base_ + std::string(uri);
    // Without symbolic links, a file of one line that names another stands for that one.
    std::string text = test::ReadFile(path);
    if (!text.empty() && text.size() < 100 && text.find('\n') == std::string::npos) {
      text = test::ReadFile(std::filesystem::path(path).parent_path() / text);
    }
    auto value = core::ParseYamlOrJson(text, core::ErrorCode::kSchemaUnusable);
    if (value) known->second = std::move(*value);
    return known->second.is_null() ? nullptr : &known->second;
  }

  std::shared_ptr<const validate::CompiledSchema> Compiled(const std::string& uri) {
    const auto [known, fresh] = compiled_.try_emplace(uri);
    if (!fresh) return known->second;
    const boost::json::value* schema = Document(uri);
    if (schema == nullptr) return nullptr;
    std::string problem;
    known->second = test::Compile(
        uri, *schema, {}, [this](std::string_view other) { return Document(other); }, problem);
    if (!problem.empty()) std::cout << uri << ": " << problem << "\n";
    return known->second;
  }

 private:
  std::string base_;
  std::map<std::string, boost::json::value> documents_;
  std::map<std::string, std::shared_ptr<const validate::CompiledSchema>> compiled_;
};

// One line of the recording, kept with the text that its nodes view.
struct Recording {
  explicit Recording(std::string line) : text(std::move(line)) {
    const std::size_t length = text.size();
    text.append(validate::kReadPadding, ' ');
    validate::Reader reader;
    ok = reader.Read(std::string_view(text).substr(0, length), {}, document).has_value();
  }
  const validate::Node* Find(std::string_view key) const {
    return document.Find(document.nodes.data(), key);
  }
  std::string String(std::string_view key) const {
    const validate::Node* node = Find(key);
    return node == nullptr ? std::string() : std::string(document.String(*node));
  }
  std::string text;
  validate::Document document;
  bool ok = false;
};

std::string Difference(const Recording& wanted, const Outcome& outcome) {
  if (wanted.Find("valid")->kind() == validate::Kind::kTrue) {
    if (outcome.status != Outcome::Status::kValid) return "status";
    if (wanted.Find("after") == nullptr) return outcome.after.empty() ? "" : "changed";
    return wanted.String("after") == outcome.after ? "" : "after";
  }
  if (outcome.status != Outcome::Status::kInvalid) return "status";
  const Recording errors(outcome.errors_json);
  if (!errors.ok) return "errors are not JSON";
  validate::ValueEquality equality;
  if (!equality.Equal(wanted.document, wanted.Find("errors"), errors.document,
                      errors.document.nodes.data())) {
    return "errors";
  }
  return wanted.String("errorsText") == outcome.errors_text ? "" : "errorsText";
}

TEST_CASE("Engine: agrees with every recorded verdict") {
  const std::string shared = test::SharedFolder();
  const std::string path = shared + "/data/golden/validation.ndjson";
  if (shared.empty() || !std::filesystem::exists(path)) {
    std::cout << "SKIPPED: the recorded verdicts are not here\n";
    std::exit(77);
  }
  SchemaFolder schemas(shared + "/data/schemas-primary/jsonschema");
  test::EngineRunner runner;
  std::size_t total = 0;
  std::size_t agree = 0;
  std::string text = test::ReadFile(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const Recording wanted(text.substr(at, end - at));
    at = end + 1;
    REQUIRE(wanted.ok);
    ++total;
    const auto schema = schemas.Compiled(wanted.String("schema"));
    std::string difference;
    if (wanted.Find("load_error") != nullptr) {
      difference = schema == nullptr ? "" : "the schema was taken";
    } else if (schema == nullptr) {
      difference = "the schema was refused";
    } else {
      const Outcome outcome = runner.Run(*schema, wanted.String("raw"));
      difference = Difference(wanted, outcome);
      if (difference.empty() && !runner.passes_agree()) difference = "passes";
      if (!difference.empty()) {
        MESSAGE(difference, "\n want ", wanted.text, "\n got ", outcome.errors_json, "\n ",
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
