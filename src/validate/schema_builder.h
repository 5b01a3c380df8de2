#pragma once

#include <boost/json/value.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "validate/program.h"
#include "validate/schema_compiler.h"
#include "validate/schema_index.h"
#include "validate/value_set_builder.h"

namespace sluice::validate {

// Builds the program of one schema, subschema by subschema from a work list, so that neither
// nesting nor recursive references recurse here. What stands nowhere in reach of the root is not
// looked at, as in ajv. One use; not thread-safe.
class SchemaBuilder {
 public:
  SchemaBuilder(SchemaIndex& index, const CompileOptions& options);

  // The program, or null: then problem() says what is wrong, or the index needs documents.
  std::unique_ptr<const Program> Build();
  const std::string& problem() const { return problem_; }

  // Whether ajv generates code for it: `false`, or an object with a keyword that asserts.
  static bool HasRules(const boost::json::value& schema);

 private:
  using Object = boost::json::object;
  struct Context;  // one schema while its keywords are read

  SchemaId Enqueue(const SchemaPlace& place);
  // The subschema below `keyword` (and `step`, if given): kAnySchema if it has no rules.
  SchemaId Child(const Context& context, const boost::json::value& schema, std::string_view keyword,
                 std::optional<std::string_view> step = std::nullopt);
  void BuildSchema(SchemaId id, const SchemaPlace& place);
  void BuildReference(Context& context, const boost::json::value& reference);
  bool IsInlined(const boost::json::value& target);
  void BuildType(Context& context);
  bool HasRulesOfGroup(const Context& context, std::string_view type) const;

  void BuildNumber(Context& context);
  enum class Bound { kMaximum, kMinimum };
  void BuildLimit(Context& context, std::string_view keyword, std::string_view exclusive_keyword,
                  Bound bound);
  void BuildString(Context& context);
  void BuildRest(Context& context);
  void BuildCondition(Context& context, RestRules& rules);
  Range BuildAlternatives(Context& context, std::string_view keyword);

  void BuildArray(Context& context);
  void BuildItems(Context& context, ArrayRules& rules);
  void BuildUnique(Context& context, ArrayRules& rules);

  void BuildObject(Context& context);
  void BuildProperties(Context& context, ObjectRules& rules);
  void BuildRequired(Context& context, ObjectRules& rules);
  void BuildPatternProperties(Context& context, ObjectRules& rules);
  void BuildAdditional(Context& context, ObjectRules& rules);
  void BuildDependencies(Context& context, ObjectRules& rules);
  void BuildTable(ObjectRules& rules);

  // Reads a keyword of the given form; wrong forms fail (the meta-schema has told most already).
  std::optional<double> NumberKeyword(Context& context, std::string_view keyword);
  const Object* ObjectKeyword(Context& context, std::string_view keyword);
  const boost::json::array* ArrayKeyword(Context& context, std::string_view keyword);

  std::uint32_t PatternIndex(const Context& context, std::string_view keyword,
                             std::string_view source);
  TextRef Intern(std::string_view text);
  void Fail(const Context& context, std::string_view keyword, std::string_view why);
  bool Failed() const { return !problem_.empty(); }

  SchemaIndex& index_;
  const CompileOptions& options_;
  std::unique_ptr<Program> program_;
  ValueSetBuilder values_;
  std::deque<std::pair<SchemaId, SchemaPlace>> queue_;
  std::unordered_map<const boost::json::value*, SchemaId> ids_;
  std::unordered_map<const boost::json::value*, bool> inlined_;
  std::unordered_map<std::string, std::uint32_t> pattern_indices_;
  std::unordered_map<std::string, std::uint32_t> interned_;
  std::string problem_;
};

struct SchemaBuilder::Context {
  SchemaId id;
  const SchemaPlace& place;
  const boost::json::object& schema;
  std::string base;  // inside the schema

  const boost::json::value* Find(std::string_view keyword) const {
    return schema.if_contains(keyword);
  }
};

}  // namespace sluice::validate
