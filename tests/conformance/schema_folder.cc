#include "conformance/schema_folder.h"

#include <filesystem>

#include "conformance/engine_runner.h"
#include "core/yaml_json.h"

namespace sluice::test {

const boost::json::value* SchemaFolder::Document(std::string_view uri) {
  const auto [known, fresh] = documents_.try_emplace(std::string(uri));
  if (!fresh) return known->second.is_null() ? nullptr : &known->second;
  const std::string path = base_ + std::string(uri);
  // Without symbolic links, a file of one line that names another stands for that one.
  std::string text = ReadFile(path);
  if (!text.empty() && text.size() < 100 && text.find('\n') == std::string::npos) {
    text = ReadFile(std::filesystem::path(path).parent_path() / text);
  }
  auto value = core::ParseYamlOrJson(text, core::ErrorCode::kSchemaUnusable);
  if (value) known->second = std::move(*value);
  return known->second.is_null() ? nullptr : &known->second;
}

std::shared_ptr<const validate::CompiledSchema> SchemaFolder::Compiled(const std::string& uri) {
  const auto [known, fresh] = compiled_.try_emplace(uri);
  if (!fresh) return known->second;
  const boost::json::value* schema = Document(uri);
  if (schema == nullptr) return nullptr;
  known->second = Compile(
      uri, *schema, {}, [this](std::string_view other) { return Document(other); }, problem_);
  return known->second;
}

}  // namespace sluice::test
