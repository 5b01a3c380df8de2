#include <algorithm>
#include <unordered_set>

#include "validate/meta_schema.h"
#include "validate/schema_builder.h"
#include "validate/schema_text.h"

// Arrays and objects.
namespace sluice::validate {
namespace {

// The JSON text of the schema's `default`, or an empty text.
std::string DefaultText(const boost::json::value& schema) {
  const auto* object = schema.if_object();
  const auto* value = object == nullptr ? nullptr : object->if_contains("default");
  std::string text;
  if (value != nullptr) AppendJson(text, *value);
  return text;
}

bool IsMetaSchema(const SchemaPlace& place) {
  return MetaSchemaDocument(place.document->uri) == place.document->root;
}

std::string SchemaPath(std::string_view keyword, std::string_view name) {
  std::string step;
  AppendPointerStep(step, name);
  std::string path = "/";
  path.append(keyword).append("/");
  AppendEncodedUriComponent(path, std::string_view(step).substr(1));
  return path;
}

}  // namespace

void SchemaBuilder::BuildArray(Context& context) {
  if (!HasRulesOfGroup(context, "array")) return;
  ArrayRules rules;
  if (const auto limit = NumberKeyword(context, "maxItems")) {
    rules.has_max = true;
    rules.max_items = *limit;
  }
  if (const auto limit = NumberKeyword(context, "minItems")) {
    rules.has_min = true;
    rules.min_items = *limit;
  }
  BuildItems(context, rules);
  if (const auto* contains = context.Find("contains")) {
    rules.contains = true;
    rules.contains_schema = Child(context, *contains, "contains");
  }
  BuildUnique(context, rules);
  program_->schemas[context.id].array = static_cast<std::uint32_t>(program_->arrays.size());
  program_->arrays.push_back(rules);
}

void SchemaBuilder::BuildItems(Context& context, ArrayRules& rules) {
  const auto* items = context.Find("items");
  if (items == nullptr) return;
  const auto* list = items->if_array();
  if (list == nullptr) {
    rules.items = Child(context, *items, "items");
    return;
  }
  rules.is_tuple = true;
  std::vector<SchemaId> schemas;
  std::vector<TextRef> defaults;
  bool any_default = false;
  for (std::size_t i = 0; i < list->size(); ++i) {
    schemas.push_back(Child(context, (*list)[i], "items", std::to_string(i)));
    const std::string text = DefaultText((*list)[i]);
    defaults.push_back(text.empty() ? TextRef{} : Intern(text));
    any_default |= !text.empty();
  }
  auto& flat = program_->schemas_in_lists;
  rules.tuple = {static_cast<std::uint32_t>(flat.size()),
                 static_cast<std::uint32_t>(schemas.size())};
  flat.insert(flat.end(), schemas.begin(), schemas.end());
  if (any_default) {
    program_->has_defaults = true;
    rules.tuple_defaults = {static_cast<std::uint32_t>(program_->texts.size()), rules.tuple.count};
    program_->texts.insert(program_->texts.end(), defaults.begin(), defaults.end());
  }
  const auto* additional = context.Find("additionalItems");
  if (additional == nullptr) return;
  if (additional->is_bool()) {
    rules.additional_forbidden = !additional->get_bool();
  } else {
    rules.items = Child(context, *additional, "additionalItems");
  }
}

void SchemaBuilder::BuildUnique(Context& context, ArrayRules& rules) {
  const auto* unique = context.Find("uniqueItems");
  if (unique == nullptr) return;
  if (!unique->is_bool()) return Fail(context, "uniqueItems", "must be a boolean");
  if (!unique->get_bool()) return;
  rules.unique = Unique::kAnyItems;
  const auto* items = context.Find("items");
  const auto* type =
      items != nullptr && items->is_object() ? items->get_object().if_contains("type") : nullptr;
  if (type == nullptr) return;
  // The types are read once more here: the schema of the items is built later.
  TypeMask types = 0;
  bool integral = true;
  const auto* list = type->if_array();
  const std::size_t count = list == nullptr ? 1 : list->size();
  for (std::size_t i = 0; i < count; ++i) {
    const boost::json::value& value = list == nullptr ? *type : (*list)[i];
    const std::string_view name =
        value.is_string() ? std::string_view(value.get_string()) : std::string_view();
    if (name == "object" || name == "array") return;
    if (name == "number") integral = false;
    if (name == "number" || name == "integer") types |= TypeBit(Kind::kNumber);
    if (name == "string") types |= TypeBit(Kind::kString);
    if (name == "null") types |= TypeBit(Kind::kNull);
    if (name == "boolean") types |= TypeBit(Kind::kFalse) | TypeBit(Kind::kTrue);
  }
  rules.unique = Unique::kScalarItems;
  rules.unique_types = integral ? types | kIntegralOnly : types;
}

void SchemaBuilder::BuildObject(Context& context) {
  if (!HasRulesOfGroup(context, "object")) return;
  ObjectRules rules;
  if (const auto limit = NumberKeyword(context, "maxProperties")) {
    rules.has_max = true;
    rules.max_properties = *limit;
  }
  if (const auto limit = NumberKeyword(context, "minProperties")) {
    rules.has_min = true;
    rules.min_properties = *limit;
  }
  rules.properties.first = static_cast<std::uint32_t>(program_->properties.size());
  BuildProperties(context, rules);
  BuildRequired(context, rules);
  rules.properties.count =
      static_cast<std::uint32_t>(program_->properties.size()) - rules.properties.first;
  BuildTable(rules);
  BuildAdditional(context, rules);
  BuildPatternProperties(context, rules);
  BuildDependencies(context, rules);
  if (const auto* names = context.Find("propertyNames")) {
    rules.names = Child(context, *names, "propertyNames");
  }
  rules.simple = !rules.has_max && !rules.has_min && rules.patterns.count == 0 &&
                 rules.name_dependencies.count == 0 && rules.schema_dependencies.count == 0 &&
                 rules.names == kAnySchema;
  program_->schemas[context.id].object = static_cast<std::uint32_t>(program_->objects.size());
  program_->objects.push_back(rules);
}

void SchemaBuilder::BuildProperties(Context& context, ObjectRules& rules) {
  const auto* properties = ObjectKeyword(context, "properties");
  if (properties == nullptr) return;
  std::string text;
  for (const auto& [name, schema] : MembersInOrder(*properties)) {
    Property property;
    PropertyDetail detail;
    const TextRef name_text = Intern(name);
    property.name = name_text.at;
    property.name_size = name_text.size;
    property.declared = true;
    property.schema = Child(context, *schema, "properties", name);
    text.clear();
    AppendPropertyPath(text, name);
    detail.data_path = Intern(text);
    detail.schema_path = Intern(SchemaPath("properties", name));
    // The original's meta-schemas are compiled without defaults.
    text = IsMetaSchema(context.place) ? std::string() : DefaultText(*schema);
    if (!text.empty()) {
      property.has_default = 1;
      detail.default_json = Intern(text);
      ++rules.default_count;
      program_->has_defaults = true;
    }
    program_->properties.push_back(property);
    program_->property_details.push_back(detail);
  }
}

void SchemaBuilder::BuildRequired(Context& context, ObjectRules& rules) {
  const auto* required = ArrayKeyword(context, "required");
  if (required == nullptr) return;
  std::unordered_map<std::string_view, std::uint32_t> known;
  const auto first = rules.properties.first;
  for (auto i = first; i < program_->properties.size(); ++i) {
    const Property& p = program_->properties[i];
    // The pool may move while names are added: only views of the schema's own text are kept.
    const auto* member =
        context.Find("properties")->get_object().find(boost::json::string_view(program_->Name(p)));
    known.emplace(member->key(), i);
  }
  rules.required.first = static_cast<std::uint32_t>(program_->texts.size());
  for (const auto& value : *required) {
    if (!value.is_string()) return Fail(context, "required", "must list strings");
    const std::string_view name = value.get_string();
    const auto [place, fresh] =
        known.try_emplace(name, static_cast<std::uint32_t>(program_->properties.size()));
    const TextRef name_text = Intern(name);
    if (fresh) {
      Property property;
      property.name = name_text.at;
      property.name_size = name_text.size;
      program_->properties.push_back(property);
      program_->property_details.emplace_back();
    }
    Property& property = program_->properties[place->second];
    if (property.required == 0) ++rules.required_count;
    property.required = 1;
    const bool told_in_place = property.declared && property.schema != kAnySchema;
    program_->property_details[place->second].told_missing = told_in_place;
    // ajv tells a missing property whose schema is `false` in both places.
    const auto* properties = context.Find("properties");
    const auto* schema = property.declared ? properties->get_object().if_contains(name) : nullptr;
    if (!told_in_place || schema->is_bool()) {
      program_->texts.push_back(name_text);
      ++rules.required.count;
    }
  }
}

// Finds a shift and a size for which no two names share a slot, so that a lookup is one probe; if
// there is none within bounds, probing goes on linearly.
void SchemaBuilder::BuildTable(ObjectRules& rules) {
  const std::uint32_t count = rules.properties.count;
  if (count == 0) return;
  std::vector<std::uint32_t> hashes;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Property& property = program_->properties[rules.properties.first + i];
    hashes.push_back(HashKey(program_->Name(property)));
  }
  std::uint32_t size = 2;
  while (size < count * 2) size *= 2;
  const std::uint32_t smallest = size;
  const auto is_perfect = [&](std::uint32_t table_size, std::uint32_t shift) {
    std::unordered_set<std::uint32_t> taken;
    return std::all_of(hashes.begin(), hashes.end(), [&](std::uint32_t hash) {
      return taken.insert((hash >> shift) & (table_size - 1)).second;
    });
  };
  bool perfect = false;
  for (; !perfect && size <= smallest * 4 && count <= 256; size *= perfect ? 1 : 2) {
    for (std::uint32_t shift = 0; shift < 16 && !perfect; ++shift) {
      perfect = is_perfect(size, shift);
      if (perfect) rules.table_shift = shift;
    }
  }
  if (!perfect) size = smallest;
  rules.table = static_cast<std::uint32_t>(program_->slots.size());
  rules.table_mask = size - 1;
  program_->slots.resize(program_->slots.size() + size);
  MemberSlot* table = program_->slots.data() + rules.table;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t slot = (hashes[i] >> rules.table_shift) & rules.table_mask;
    while (table[slot].property != kNowhere) slot = (slot + 1) & rules.table_mask;
    table[slot].hash = hashes[i];
    table[slot].property = rules.properties.first + i;
  }
}

void SchemaBuilder::BuildPatternProperties(Context& context, ObjectRules& rules) {
  const auto* patterns = ObjectKeyword(context, "patternProperties");
  if (patterns == nullptr) return;
  std::vector<PatternProperty> found;
  for (const auto& [source, schema] : MembersInOrder(*patterns)) {
    PatternProperty property;
    property.schema = Child(context, *schema, "patternProperties", source);
    // An expression that decides nothing is not even compiled by ajv.
    if (property.schema == kAnySchema && rules.additional == Additional::kAllowed) continue;
    property.pattern = PatternIndex(context, "patternProperties", source);
    property.schema_path = Intern(SchemaPath("patternProperties", source));
    found.push_back(property);
  }
  auto& flat = program_->pattern_properties;
  rules.patterns = {static_cast<std::uint32_t>(flat.size()),
                    static_cast<std::uint32_t>(found.size())};
  flat.insert(flat.end(), found.begin(), found.end());
}

void SchemaBuilder::BuildAdditional(Context& context, ObjectRules& rules) {
  const auto* additional = context.Find("additionalProperties");
  if (additional == nullptr) return;
  if (additional->is_bool()) {
    rules.additional = additional->get_bool() ? Additional::kAllowed : Additional::kForbidden;
    return;
  }
  rules.additional_schema = Child(context, *additional, "additionalProperties");
  if (rules.additional_schema != kAnySchema) rules.additional = Additional::kSchema;
}

void SchemaBuilder::BuildDependencies(Context& context, ObjectRules& rules) {
  const auto* dependencies = ObjectKeyword(context, "dependencies");
  if (dependencies == nullptr) return;
  std::vector<Dependency> on_names;
  std::vector<Dependency> on_schemas;
  for (const auto& [name, value] : MembersInOrder(*dependencies)) {
    Dependency dependency;
    dependency.name = Intern(name);
    dependency.schema_path = Intern(SchemaPath("dependencies", name));
    const auto* list = value->if_array();
    if (list == nullptr) {
      dependency.schema = Child(context, *value, "dependencies", name);
      if (dependency.schema != kAnySchema) on_schemas.push_back(dependency);
      continue;
    }
    dependency.names_first = static_cast<std::uint32_t>(program_->texts.size());
    dependency.names_count = static_cast<std::uint32_t>(list->size());
    std::string joined;
    for (const auto& other : *list) {
      if (!other.is_string()) return Fail(context, "dependencies", "must list strings");
      if (&other != list->data()) joined.append(", ");
      joined.append(other.get_string());
      program_->texts.push_back(Intern(other.get_string()));
    }
    dependency.names_text = Intern(joined);
    if (!list->empty()) on_names.push_back(dependency);
  }
  auto& flat = program_->dependencies;
  rules.name_dependencies = {static_cast<std::uint32_t>(flat.size()),
                             static_cast<std::uint32_t>(on_names.size())};
  flat.insert(flat.end(), on_names.begin(), on_names.end());
  rules.schema_dependencies = {static_cast<std::uint32_t>(flat.size()),
                               static_cast<std::uint32_t>(on_schemas.size())};
  flat.insert(flat.end(), on_schemas.begin(), on_schemas.end());
}

}  // namespace sluice::validate
