#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "validate/compiled_schema.h"
#include "validate/editable_event.h"

namespace sluice::validate {

enum class Verdict : std::uint8_t { kValid, kInvalid, kExhausted };
enum class UseDefaults : std::uint8_t { kYes, kNo };

// Runs compiled schemas over events. Keeps its scratch between calls; one per thread. A valid event
// costs no allocation once warm; errors are collected by a second pass over an invalid one.
class Validator {
 public:
  Validator();
  ~Validator();

  // Puts the schema's defaults in (as edits of `event`, where ajv 6 with useDefaults does), then
  // checks. kExhausted: a pattern hit its bound; message() names it.
  Verdict Validate(const CompiledSchema& schema, EditableEvent& event,
                   UseDefaults defaults = UseDefaults::kYes);

  // After kInvalid, until the next call: appends the JSON array of ajv 6 error objects (keyword,
  // dataPath, schemaPath, params, message; propertyName), all errors, in ajv's order; and its
  // errorsText, `'<dataPath>' <message>` joined by
  // ", " (the path in single quotes).
  void AppendErrorsJson(std::string& out) const;
  void AppendErrorsText(std::string& out) const;
  const std::string& message() const;

  // The first few errors as `"<JSON pointer>" <message>`, for messages about schema documents.
  // `event` is what was validated.
  void AppendErrorsByPointer(const EditableEvent& event, std::string& out) const;

  // The second pass alone, whatever the first would say: tests hold the two against each other.
  Verdict ValidateSlowly(const CompiledSchema& schema, EditableEvent& event, UseDefaults defaults);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::validate
