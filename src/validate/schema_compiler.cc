#include "validate/schema_compiler.h"

#include <exception>

#include "validate/meta_schema.h"
#include "validate/schema_builder.h"
#include "validate/schema_fields.h"
#include "validate/schema_index.h"
#include "validate/secure_check.h"

namespace sluice::validate {

class SchemaCompiler {
 public:
  SchemaCompiler(std::string_view uri, const boost::json::value& schema,
                 const CompileOptions& options,
                 const std::function<const boost::json::value*(std::string_view)>& documents)
      : uri_(uri), schema_(schema), options_(options), index_(documents) {}

  CompileOutcome Run() {
    if (!schema_.is_object() && !schema_.is_bool()) {
      return Unusable(uri_ + ": schema should be object or boolean");
    }
    const std::string problem = index_.Add(uri_, schema_);
    if (!problem.empty()) return Unusable(uri_ + ": " + problem);
    if (const std::string bad = CheckDocuments(); !bad.empty()) return Unusable(bad);
    SchemaBuilder builder(index_, options_);
    std::unique_ptr<const Program> program = builder.Build();
    if (!builder.problem().empty()) return Unusable(builder.problem());
    if (const std::string bad = CheckDocuments(); !bad.empty()) return Unusable(bad);
    CompileOutcome outcome;
    if (!index_.needed().empty()) {
      outcome.needed = index_.needed();
      return outcome;
    }
    auto compiled = std::make_shared<CompiledSchema>();
    compiled->uri_ = uri_;
    if (const auto* object = schema_.if_object()) {
      if (const auto* id = FirstString(*object, "$id", "id")) compiled->id_ = *id;
      if (const auto* title = FirstString(*object, "title", "title")) {
        compiled->title_.emplace(*title);
      }
    }
    compiled->declared_ = CollectDeclaredFields(index_);
    compiled->program_ = std::move(program);
    outcome.schema = std::move(compiled);
    return outcome;
  }

 private:
  static const boost::json::string* FirstString(const boost::json::object& object,
                                                std::string_view first, std::string_view second) {
    const auto* value = object.if_contains(first);
    if (value == nullptr) value = object.if_contains(second);
    return value == nullptr ? nullptr : value->if_string();
  }

  static CompileOutcome Unusable(std::string message) {
    CompileOutcome outcome;
    outcome.error = {core::ErrorCode::kSchemaUnusable, std::move(message)};
    return outcome;
  }

  // Holds the documents that were added since the last call against the meta-schema and the rule
  // of security.
  std::string CheckDocuments() {
    for (; checked_ < index_.documents().size(); ++checked_) {
      const SchemaDocument& document = index_.documents()[checked_];
      if (MetaSchemaDocument(document.uri) == document.root) continue;
      std::string problem;
      if (options_.check_meta_schema) problem = CheckAgainstMetaSchema(*document.root);
      if (problem.empty() && options_.secure_check) problem = CheckSecure(*document.root);
      if (!problem.empty()) return document.uri + ": " + problem;
    }
    return {};
  }

  std::string uri_;
  const boost::json::value& schema_;
  const CompileOptions& options_;
  SchemaIndex index_;
  std::size_t checked_ = 0;
};

CompileOutcome CompileSchema(
    std::string_view uri, const boost::json::value& schema, const CompileOptions& options,
    const std::function<const boost::json::value*(std::string_view uri)>& documents) {
  try {
    return SchemaCompiler(uri, schema, options, documents).Run();
  } catch (const std::exception& e) {  // from boost::json, the expression engines, or memory
    CompileOutcome outcome;
    outcome.error = {core::ErrorCode::kSchemaUnusable, std::string(uri) + ": " + e.what()};
    return outcome;
  }
}

}  // namespace sluice::validate
