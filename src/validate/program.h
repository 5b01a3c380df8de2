#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "validate/document.h"
#include "validate/format.h"
#include "validate/pattern.h"
#include "validate/program_records.h"

// What a schema is compiled to: arrays of records. Immutable once built; any thread.
namespace sluice::validate {

struct Program {
  FormatMode formats = FormatMode::kFast;
  SchemaId root = kAnySchema;
  bool has_defaults = false;
  // Some schema can apply to one value again and again. Such a value is endless work for ajv even
  // where the first pass would stop early, so only the second pass decides.
  bool has_loops = false;
  // Defaults stand behind a $ref that takes them even within alternatives: also an alternative that
  // fails leaves them behind, so only the second pass, which does not stop early, puts them in.
  bool has_defaults_in_alternatives = false;

  std::vector<SchemaNode> schemas;
  std::vector<ObjectRules> objects;
  std::vector<Property> properties;
  std::vector<MemberSlot> slots;
  std::vector<ArrayRules> arrays;
  std::vector<RestRules> rests;
  std::vector<Alternative> alternatives;
  std::vector<SchemaId> schemas_in_lists;
  std::vector<PatternProperty> pattern_properties;
  std::vector<Dependency> dependencies;
  std::vector<Reference> references;
  std::vector<std::unique_ptr<const Pattern>> patterns;

  std::vector<ValueSet> value_sets;
  std::vector<std::uint32_t> value_nodes;
  std::vector<PropertySlot> value_slots;
  std::vector<double> numbers;
  Document values;          // one array of all values
  std::string values_text;  // what `values` views

  std::vector<SchemaDetail> details;             // one for each schema
  std::vector<PropertyDetail> property_details;  // one for each property
  std::vector<TextRef> texts;
  std::string pool;  // with kPoolPadding readable bytes behind the last text

  std::string_view Text(TextRef text) const { return {pool.data() + text.at, text.size}; }
  std::string_view Name(const Property& p) const { return {pool.data() + p.name, p.name_size}; }
  std::size_t MemoryBytes() const;
};

}  // namespace sluice::validate
