#include <cstdint>
#include <string_view>

#include "core/yaml_json.h"
#include "validate/schema_compiler.h"

// Any JSON or YAML text as a schema: it compiles, or it is refused with a message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = core::ParseYamlOrJson(text, core::ErrorCode::kSchemaUnusable,
                                           {.depth = 2000, .values = 20000});
  if (!value) return 0;
  for (const bool checked : {true, false}) {
    validate::CompileOptions options;
    options.check_meta_schema = checked;
    options.secure_check = checked;
    const auto outcome = validate::CompileSchema("/fuzz/1.0.0", *value, options, nullptr);
    const int answers =
        (outcome.schema != nullptr) + !outcome.error.message.empty() + !outcome.needed.empty();
    if (answers != 1) __builtin_trap();
  }
  return 0;
}
