#include <cstdint>
#include <string>
#include <string_view>

#include "core/yaml_json.h"
#include "validate/reader.h"
#include "validate/schema_compiler.h"
#include "validate/validator.h"

// A schema, a line break, an event: both passes must end, say the same, and tell errors in JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  const auto value = core::ParseYamlOrJson(text.substr(0, line), core::ErrorCode::kSchemaUnusable,
                                           {.depth = 200, .values = 2000});
  if (!value) return 0;
  validate::CompileOptions options;
  options.secure_check = false;
  options.check_meta_schema = false;
  const auto compiled = validate::CompileSchema("/fuzz/1.0.0", *value, options, nullptr);
  if (!compiled.schema) return 0;

  static validate::Reader reader;
  static validate::Document document;
  static validate::EditableEvent event;
  static validate::Validator validator;
  std::string body(text.substr(line + 1));
  const std::size_t length = body.size();
  body.append(validate::kReadPadding, ' ');
  if (!reader.Read(std::string_view(body).substr(0, length), {}, document)) return 0;
  event.Load(document, 0);
  const auto slow = validator.ValidateSlowly(*compiled.schema, event, validate::UseDefaults::kYes);
  event.Load(document, 0);
  const auto verdict = validator.Validate(*compiled.schema, event);
  if (slow != verdict) __builtin_trap();
  if (verdict != validate::Verdict::kInvalid) return 0;

  std::string errors;
  validator.AppendErrorsJson(errors);
  const std::size_t errors_length = errors.size();
  errors.append(validate::kReadPadding, ' ');
  validate::Document told;
  if (!reader.Read(std::string_view(errors).substr(0, errors_length), {}, told)) __builtin_trap();
  return 0;
}
