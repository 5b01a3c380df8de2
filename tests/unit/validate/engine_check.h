#pragma once

#include <string>
#include <string_view>

#include "conformance/engine_runner.h"

namespace sluice::test {

// Compiles a schema text without the rule of security. Returns the problem, or an empty text.
inline std::string Problem(std::string_view schema, bool secure = false) {
  validate::CompileOptions options;
  options.secure_check = secure;
  std::string problem;
  Compile("/t/1.0.0", ParseJson(schema), options, nullptr, problem);
  return problem;
}

// What the engine says about an event: the text of its errors, "" if it is valid, what is wrong
// with the schema, or "exhausted: …". "PASSES DISAGREE" if the two passes do.
inline std::string Check(std::string_view schema, std::string_view event,
                         validate::UseDefaults defaults = validate::UseDefaults::kYes) {
  validate::CompileOptions options;
  options.secure_check = false;
  std::string problem;
  const auto compiled = Compile("/t/1.0.0", ParseJson(schema), options, nullptr, problem);
  if (!compiled) return problem;
  EngineRunner runner;
  const Outcome outcome = runner.Run(*compiled, event, defaults);
  if (!runner.passes_agree()) return "PASSES DISAGREE";
  if (outcome.status == Outcome::Status::kExhausted) return "exhausted: " + outcome.message;
  return outcome.errors_text;
}

// The errors as JSON.
inline std::string Errors(std::string_view schema, std::string_view event) {
  validate::CompileOptions options;
  options.secure_check = false;
  std::string problem;
  const auto compiled = Compile("/t/1.0.0", ParseJson(schema), options, nullptr, problem);
  return compiled ? EngineRunner().Run(*compiled, event).errors_json : problem;
}

// The event after defaults were put in; "" if none was.
inline std::string After(std::string_view schema, std::string_view event) {
  validate::CompileOptions options;
  options.secure_check = false;
  std::string problem;
  const auto compiled = Compile("/t/1.0.0", ParseJson(schema), options, nullptr, problem);
  return compiled ? EngineRunner().Run(*compiled, event).after : problem;
}

}  // namespace sluice::test
