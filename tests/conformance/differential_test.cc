#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "conformance/engine_runner.h"
#include "conformance/recording.h"
#include "core/json_text.h"

// The engine against ajv 6.12.6 on generated cases (tests/conformance/ajv/generate.js). By hand
// with other seeds and more cases: SLUICE_AJV_SEED, SLUICE_AJV_COUNT.
namespace sluice {
namespace {

using test::Outcome;

std::string Setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

[[noreturn]] void Skip(const char* why) {
  std::cout << "SKIPPED: " << why << "\n";
  std::exit(77);
}

// Lines of the generator's output, one at a time.
class Generator {
 public:
  explicit Generator(const std::string& command) : pipe_(popen(command.c_str(), "r")) {}
  ~Generator() { std::free(line_); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  bool Next(std::string& line) {
    const ssize_t length = pipe_ == nullptr ? -1 : getline(&line_, &capacity_, pipe_);
    if (length <= 0) return false;
    line.assign(line_, static_cast<std::size_t>(length - 1));
    return true;
  }
  int Close() { return pipe_ == nullptr ? -1 : pclose(pipe_); }

 private:
  FILE* pipe_;
  char* line_ = nullptr;
  std::size_t capacity_ = 0;
};

struct Tally {
  std::size_t events = 0;
  std::size_t invalid = 0;
  std::size_t refused = 0;
  std::size_t endless = 0;
  std::size_t differences = 0;
};

// One JSON line for each of the first differences, to be looked at by hand.
void Report(Tally& tally, const std::string& what, const std::string& schema,
            const std::string& event, const std::string& wanted, const Outcome& outcome) {
  if (++tally.differences > 20) return;
  std::string line = R"({"difference":)";
  core::AppendJsonString(line, what);
  line.append(R"(,"schema":)").append(schema).append(R"(,"event":)");
  core::AppendJsonString(line, event);
  line.append(R"(,"want":)").append(wanted.empty() ? "null" : wanted).append(R"(,"got":)");
  line.append(outcome.errors_json.empty() ? "null" : outcome.errors_json);
  line.append(R"(,"message":)");
  core::AppendJsonString(line, outcome.message);
  line.append(R"(,"after":)");
  core::AppendJsonString(line, outcome.after);
  std::cout << line << "}\n";
}

void CheckEvents(const test::Recording& line, const validate::CompiledSchema& schema,
                 test::EngineRunner& runner, Tally& tally) {
  const validate::Node* events = line.Find("events");
  const validate::Node* const end = events + events->nodes();
  for (const validate::Node* event = events + 1; event < end; event += event->nodes()) {
    ++tally.events;
    const std::string raw = line.String(event, "raw");
    const Outcome outcome = runner.Run(schema, raw);
    std::string difference;
    if (line.Find(event, "throws") != nullptr) {
      ++tally.endless;
      if (outcome.status != Outcome::Status::kExhausted) difference = "what ajv cannot finish";
    } else {
      difference = test::Difference(line, event, outcome);
    }
    if (outcome.status == Outcome::Status::kInvalid) ++tally.invalid;
    if (difference.empty() && !runner.passes_agree()) difference = "the two passes";
    if (difference.empty()) continue;
    Report(tally, difference, line.String("schema"), raw, std::string(line.document().Text(*event)),
           outcome);
  }
}

bool OnlyThrows(const test::Recording& line) {
  const validate::Node* events = line.Find("events");
  const validate::Node* const end = events + events->nodes();
  for (const validate::Node* event = events + 1; event < end; event += event->nodes()) {
    if (line.Find(event, "throws") == nullptr) return false;
  }
  return events->inside > 0;
}

void CheckLine(const test::Recording& line, test::EngineRunner& runner, Tally& tally) {
  validate::CompileOptions options;
  options.secure_check = false;
  std::string problem;
  std::map<std::string, boost::json::value, std::less<>> documents;
  const validate::Node* texts = line.Find("documents");
  const validate::Node* const end = texts + texts->nodes();
  for (const validate::Node* uri = texts + 1; uri < end; uri += 2) {
    documents.emplace(line.document().String(*uri),
                      test::ParseJson(line.document().String(*(uri + 1))));
  }
  const auto source = [&documents](std::string_view uri) -> const boost::json::value* {
    const auto found = documents.find(uri);
    return found == documents.end() ? nullptr : &found->second;
  };
  const auto schema =
      test::Compile("", test::ParseJson(line.String("schema")), options, source, problem);
  const std::string refused = line.String("refused");
  if (!refused.empty()) ++tally.refused;
  if (schema != nullptr && refused.empty()) {
    CheckEvents(line, *schema, runner, tally);
  } else if (schema == nullptr && OnlyThrows(line)) {
    ++tally.endless;  // told when the schema is loaded, not with each event
  } else if (schema != nullptr || refused.empty()) {
    Outcome outcome;
    outcome.message = problem;
    Report(tally, "whether the schema compiles", line.String("schema"), refused, "", outcome);
  }
}

TEST_CASE("Engine: agrees with ajv 6 on generated cases") {
  const std::string folder = Setting("SLUICE_SOURCE", ".") + "/tests/conformance";
  if (std::system("node --version >/dev/null 2>&1") != 0) Skip("node is not here");
  if (!std::filesystem::exists(folder + "/node_modules/ajv") &&
      std::system(("cd '" + folder + "' && npm ci --silent >/dev/null 2>&1").c_str()) != 0) {
    Skip("ajv cannot be installed");
  }
  std::string command = "node '" + folder + "/ajv/generate.js' --seed " +
                        Setting("SLUICE_AJV_SEED", "1") + " --count " +
                        Setting("SLUICE_AJV_COUNT", "5000");
  const std::string shared = test::SharedFolder();
  if (shared.empty()) {
    std::cout << "SKIPPED: real schemas, since they are not here\n";
  } else {
    command += " --schemas '" + shared + "/data/schemas-primary/jsonschema' --golden '" + shared +
               "/data/golden/validation.ndjson'";
  }
  Generator generator(command);
  test::EngineRunner runner;
  Tally tally;
  for (std::string text; generator.Next(text);) {
    const test::Recording line(std::move(text));
    REQUIRE(line.ok());
    CheckLine(line, runner, tally);
  }
  CHECK(generator.Close() == 0);
  CHECK(tally.events > 1000);
  CHECK(tally.invalid > 0);
  CHECK(tally.differences == 0);
  std::cout << tally.events << " events (" << tally.invalid << " invalid, " << tally.endless
            << " endless), " << tally.refused << " schemas refused, " << tally.differences
            << " differences\n";
}

}  // namespace
}  // namespace sluice
