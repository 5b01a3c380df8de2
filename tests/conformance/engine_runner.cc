#include "conformance/engine_runner.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/yaml_json.h"

namespace sluice::test {

using validate::Verdict;

Outcome EngineRunner::Run(const validate::CompiledSchema& schema, std::string_view event,
                          validate::UseDefaults defaults) {
  Outcome outcome;
  text_.assign(event);
  text_.append(validate::kReadPadding, ' ');
  const auto read = reader_.Read(std::string_view(text_).substr(0, event.size()), {}, document_);
  if (!read) {
    outcome.message = read.error().message;
    return outcome;
  }
  event_.Load(document_, 0);
  const Verdict alone = validator_.ValidateSlowly(schema, event_, defaults);
  event_.Load(document_, 0);
  std::string before;  // without members that come again later
  event_.AppendTo(before);
  const Verdict verdict = validator_.Validate(schema, event_, defaults);
  passes_agree_ = alone == verdict;
  switch (verdict) {
    case Verdict::kValid:
      outcome.status = Outcome::Status::kValid;
      break;
    case Verdict::kInvalid:
      outcome.status = Outcome::Status::kInvalid;
      validator_.AppendErrorsJson(outcome.errors_json);
      validator_.AppendErrorsText(outcome.errors_text);
      break;
    case Verdict::kExhausted:
      outcome.status = Outcome::Status::kExhausted;
      outcome.message = validator_.message();
  }
  event_.AppendTo(outcome.after);
  if (outcome.after == before) outcome.after.clear();
  return outcome;
}

std::shared_ptr<const validate::CompiledSchema> Compile(std::string_view uri,
                                                        const boost::json::value& schema,
                                                        const validate::CompileOptions& options,
                                                        const DocumentSource& source,
                                                        std::string& problem) {
  validate::CompileOutcome outcome = validate::CompileSchema(uri, schema, options, source);
  problem = outcome.error.message;
  for (const std::string& needed : outcome.needed) problem.append("missing ").append(needed);
  return std::move(outcome.schema);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string SharedFolder() {
  const char* folder = std::getenv("SLUICE_SHARED");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return {};
  return folder;
}

boost::json::value ParseJson(std::string_view text) {
  auto value = core::ParseYamlOrJson(text, core::ErrorCode::kMalformedBody, {.depth = 5000});
  if (!value) throw std::runtime_error(value.error().message);
  return std::move(*value);
}

}  // namespace sluice::test
