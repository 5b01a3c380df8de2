#include "validate/validator.h"

#include "validate/error_list.h"
#include "validate/error_pass.h"
#include "validate/evaluate_fast.h"
#include "validate/program.h"

namespace sluice::validate {

struct Validator::State {
  ValueEquality equality;
  ErrorList errors;
  ErrorPass pass{errors, equality};
  std::string message;
};

Validator::Validator() : state_(std::make_unique<State>()) {}
Validator::~Validator() = default;

Verdict Validator::Validate(const CompiledSchema& schema, EditableEvent& event,
                            UseDefaults defaults) {
  const Program& program = schema.program();
  const bool puts_defaults = program.has_defaults_in_alternatives && defaults == UseDefaults::kYes;
  if (program.has_loops || puts_defaults) return ValidateSlowly(schema, event, defaults);
  FastPass fast(program, event.document(), state_->equality);
  switch (fast.Run(event.root(), defaults)) {
    case FastPass::Outcome::kValid:
      return Verdict::kValid;
    case FastPass::Outcome::kExhausted:
      state_->message = Describe(fast.reason(), program, fast.pattern());
      return Verdict::kExhausted;
    case FastPass::Outcome::kInvalid:
    case FastPass::Outcome::kNeedsDefaults:
      break;
  }
  return ValidateSlowly(schema, event, defaults);
}

Verdict Validator::ValidateSlowly(const CompiledSchema& schema, EditableEvent& event,
                                  UseDefaults defaults) {
  const Verdict verdict = state_->pass.Run(schema.program(), event, defaults);
  if (verdict == Verdict::kExhausted) {
    state_->message = Describe(state_->pass.reason(), schema.program(), state_->pass.pattern());
  }
  return verdict;
}

void Validator::AppendErrorsJson(std::string& out) const { state_->errors.AppendJson(out); }
void Validator::AppendErrorsText(std::string& out) const { state_->errors.AppendText(out); }
const std::string& Validator::message() const { return state_->message; }

void Validator::AppendErrorsByPointer(const EditableEvent& event, std::string& out) const {
  constexpr std::size_t kMaxErrors = 5;
  const ErrorList& errors = state_->errors;
  for (std::size_t i = 0; i < errors.size() && i < kMaxErrors; ++i) {
    if (i > 0) out.append(", ");
    out.push_back('"');
    AppendPointer(event, errors.where(i), out);
    out.append("\" ").append(errors.message(i));
  }
  if (errors.size() > kMaxErrors) {
    out.append(", and ").append(std::to_string(errors.size() - kMaxErrors)).append(" more");
  }
}

}  // namespace sluice::validate
