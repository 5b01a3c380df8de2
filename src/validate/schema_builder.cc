#include "validate/schema_builder.h"

#include <algorithm>
#include <cmath>

#include "validate/schema_loops.h"
#include "validate/schema_text.h"

namespace sluice::validate {
namespace {

// A schema of more parts than this is a mistake or an attack.
constexpr std::size_t kMaxSchemas = 1'000'000;

bool Contains(std::initializer_list<std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// ajv's RULES.all: what makes it generate code for a schema.
bool IsRule(std::string_view key) {
  return Contains({"type",
                   "$comment",
                   "$ref",
                   "const",
                   "enum",
                   "not",
                   "anyOf",
                   "oneOf",
                   "allOf",
                   "if",
                   "maximum",
                   "exclusiveMaximum",
                   "minimum",
                   "exclusiveMinimum",
                   "multipleOf",
                   "format",
                   "maxLength",
                   "minLength",
                   "pattern",
                   "maxItems",
                   "minItems",
                   "items",
                   "contains",
                   "uniqueItems",
                   "maxProperties",
                   "minProperties",
                   "required",
                   "dependencies",
                   "propertyNames",
                   "properties",
                   "additionalProperties",
                   "patternProperties"},
                  key);
}

std::optional<TypeMask> TypeFromName(std::string_view name) {
  if (name == "null") return TypeBit(Kind::kNull);
  if (name == "boolean") return TypeBit(Kind::kFalse) | TypeBit(Kind::kTrue);
  if (name == "number") return TypeBit(Kind::kNumber);
  if (name == "integer") return TypeBit(Kind::kNumber) | kIntegralOnly;
  if (name == "string") return TypeBit(Kind::kString);
  if (name == "array") return TypeBit(Kind::kArray);
  if (name == "object") return TypeBit(Kind::kObject);
  return std::nullopt;
}

// "integer" beside "number" says nothing.
TypeMask Unite(TypeMask a, TypeMask b) {
  const bool any_number = ((a & TypeBit(Kind::kNumber)) != 0 && (a & kIntegralOnly) == 0) ||
                          ((b & TypeBit(Kind::kNumber)) != 0 && (b & kIntegralOnly) == 0);
  const auto both = static_cast<TypeMask>(a | b);
  return any_number ? static_cast<TypeMask>(both & ~kIntegralOnly) : both;
}

// The types whose values are valid whatever they are.
TypeMask AcceptedTypes(const SchemaNode& schema) {
  if (schema.rest != kNowhere) return 0;
  TypeMask rules = 0;
  if ((schema.flags & SchemaNode::kNumberRules) != 0) rules |= TypeBit(Kind::kNumber);
  if ((schema.flags & SchemaNode::kStringRules) != 0) rules |= TypeBit(Kind::kString);
  if (schema.array != kNowhere) rules |= TypeBit(Kind::kArray);
  if (schema.object != kNowhere) rules |= TypeBit(Kind::kObject);
  return static_cast<TypeMask>(schema.types & ~rules);
}

// ajv inlines a schema without any $ref in it; errors are then told below the reference's text.
bool HasNoReference(const boost::json::value& value) {
  if (const auto* array = value.if_array()) {
    return std::all_of(array->begin(), array->end(), HasNoReference);
  }
  const auto* object = value.if_object();
  if (object == nullptr) return true;
  for (const auto& member : *object) {
    if (member.key() == "$ref" || !HasNoReference(member.value())) return false;
  }
  return true;
}

// What the tables say about their properties, once all of those are known.
void FillSlots(Program& program) {
  for (MemberSlot& slot : program.slots) {
    if (slot.property == kNowhere) continue;
    const Property& property = program.properties[slot.property];
    slot.name = property.name;
    slot.name_size = property.name_size;
    slot.schema = property.schema;
    slot.counts =
        property.required * MemberSlot::kRequired + property.has_default * MemberSlot::kHasDefault;
    slot.declared = property.declared;
    slot.accepts = property.declared ? program.schemas[property.schema].accepts : TypeMask{0};
  }
}

}  // namespace

SchemaBuilder::SchemaBuilder(SchemaIndex& index, const CompileOptions& options)
    : index_(index), options_(options), program_(std::make_unique<Program>()) {
  program_->formats = options.formats;
  program_->schemas.emplace_back();
  program_->details.emplace_back();
}

bool SchemaBuilder::HasRules(const boost::json::value& schema) {
  if (schema.is_bool()) return !schema.get_bool();
  const auto* object = schema.if_object();
  return object != nullptr && std::any_of(object->begin(), object->end(),
                                          [](const auto& member) { return IsRule(member.key()); });
}

std::unique_ptr<const Program> SchemaBuilder::Build() {
  program_->root = Enqueue(index_.Root());
  while (!queue_.empty() && !Failed()) {
    const auto [id, place] = std::move(queue_.front());
    queue_.pop_front();
    BuildSchema(id, place);
    if (program_->schemas.size() > kMaxSchemas) problem_ = "the schema has too many parts";
  }
  if (Failed() || !index_.needed().empty()) return nullptr;
  program_->has_loops = HasLoops(*program_);
  program_->has_defaults_in_alternatives =
      program_->has_defaults &&
      std::any_of(program_->references.begin(), program_->references.end(),
                  [](const Reference& reference) { return !reference.inlined; });
  for (SchemaNode& schema : program_->schemas) schema.accepts = AcceptedTypes(schema);
  FillSlots(*program_);
  program_->pool.append(kPoolPadding, '\0');
  if (!values_.Finish(*program_)) {
    problem_ = "a value of enum or const cannot be represented";
    return nullptr;
  }
  return std::move(program_);
}

SchemaId SchemaBuilder::Enqueue(const SchemaPlace& place) {
  const auto [known, fresh] =
      ids_.try_emplace(place.schema, static_cast<SchemaId>(program_->schemas.size()));
  if (fresh) {
    program_->schemas.emplace_back();
    program_->details.emplace_back();
    queue_.emplace_back(known->second, place);
  }
  return known->second;
}

SchemaId SchemaBuilder::Child(const Context& context, const boost::json::value& schema,
                              std::string_view keyword, std::optional<std::string_view> step) {
  // What is neither object nor boolean (the meta-schema tells most) has no rules for ajv either.
  if (!HasRules(schema)) return kAnySchema;
  SchemaPlace place{&schema, context.place.document, context.base, context.place.pointer};
  AppendPointerStep(place.pointer, keyword);
  if (step) AppendPointerStep(place.pointer, *step);
  return Enqueue(place);
}

void SchemaBuilder::Fail(const Context& context, std::string_view keyword, std::string_view why) {
  if (Failed()) return;
  problem_.append(context.place.document->uri).append("#").append(context.place.pointer);
  problem_.append(": ").append(keyword).append(": ").append(why);
}

TextRef SchemaBuilder::Intern(std::string_view text) {
  const auto [known, fresh] =
      interned_.try_emplace(std::string(text), static_cast<std::uint32_t>(program_->pool.size()));
  if (fresh) program_->pool.append(text);
  return {known->second, static_cast<std::uint32_t>(text.size())};
}

void SchemaBuilder::BuildSchema(SchemaId id, const SchemaPlace& place) {
  if (place.schema->is_bool()) {
    if (place.schema->get_bool()) return;
    program_->schemas[id].types = 0;
    program_->schemas[id].flags = SchemaNode::kNever;
    return;
  }
  static const boost::json::object kEmpty;
  const auto* object = place.schema->if_object();
  Context context{id, place, object == nullptr ? kEmpty : *object,
                  SchemaIndex::BaseWithin(place.base, *place.schema)};
  if (object == nullptr) {
    Fail(context, "schema", "must be an object or a boolean");
    return;
  }
  const auto* version_id = context.Find("$id");
  const auto* old_id = context.Find("id");
  if (version_id != nullptr && version_id->is_string() && old_id != nullptr &&
      old_id->is_string() && *version_id != *old_id) {
    Fail(context, "$id", "is different from id");
    return;
  }
  BuildType(context);
  if (const auto* reference = context.Find("$ref")) {
    BuildReference(context, *reference);
    return;
  }
  BuildNumber(context);
  BuildString(context);
  BuildArray(context);
  BuildObject(context);
  BuildRest(context);
}

bool SchemaBuilder::IsInlined(const boost::json::value& target) {
  const auto [known, fresh] = inlined_.try_emplace(&target, false);
  if (fresh) known->second = HasNoReference(target);
  return known->second;
}

void SchemaBuilder::BuildReference(Context& context, const boost::json::value& value) {
  if (!value.is_string()) return Fail(context, "$ref", "must be a string");
  const std::string text(value.get_string());
  const std::size_t needed = index_.needed().size();
  const auto target = index_.Resolve(context.base, text);
  if (!target) {
    if (index_.needed().size() > needed || index_.problem().empty()) return;
    return Fail(
        context, "$ref",
        "can't resolve reference " + text + " from id " + context.base + ": " + index_.problem());
  }
  // A list of schemas (tuple `items`) has no keywords: ajv takes it, and so anything.
  if (!target->schema->is_structured() && !target->schema->is_bool()) {
    return Fail(context, "$ref", "reference " + text + " leads to no schema");
  }
  Reference reference;
  reference.target = HasRules(*target->schema) ? Enqueue(*target) : kAnySchema;
  reference.inlined = IsInlined(*target->schema);
  reference.text = Intern(text);
  SchemaDetail& detail = program_->details[context.id];
  // ajv's template checks the type of a $ref's sibling where it would be told first.
  const bool checked = detail.type_check == TypeCheck::kFirst;
  reference.types = checked ? detail.types : kAllTypes;
  if (!checked) detail.type_check = TypeCheck::kNone;
  SchemaNode& node = program_->schemas[context.id];
  node.types = 0;
  node.flags = SchemaNode::kReference;
  node.rest = static_cast<std::uint32_t>(program_->references.size());
  program_->references.push_back(reference);
  if (reference.target == context.id && context.id == program_->root) {
    return Fail(context, "$ref", "refers to itself");
  }
  // As in ajv a document that is referred to has to be usable as a whole.
  if (target->document != index_.Root().document) Enqueue(index_.RootOf(*target->document));
}

bool SchemaBuilder::HasRulesOfGroup(const Context& context, std::string_view type) const {
  const auto any = [&context](std::initializer_list<std::string_view> keywords) {
    return std::any_of(keywords.begin(), keywords.end(),
                       [&](std::string_view k) { return context.Find(k) != nullptr; });
  };
  if (type == "number") {
    return any(
        {"maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "multipleOf", "format"});
  }
  if (type == "string") return any({"maxLength", "minLength", "pattern", "format"});
  if (type == "array") {
    return any({"maxItems", "minItems", "items", "contains", "uniqueItems"});
  }
  return any({"maxProperties", "minProperties", "required", "dependencies", "propertyNames",
              "properties", "additionalProperties", "patternProperties"});
}

void SchemaBuilder::BuildType(Context& context) {
  const auto* value = context.Find("type");
  if (value == nullptr) return;
  const boost::json::array* list = value->if_array();
  std::string text;
  TypeMask types = 0;
  const std::size_t count = list == nullptr ? 1 : list->size();
  for (std::size_t i = 0; i < count; ++i) {
    const boost::json::value& name = list == nullptr ? *value : (*list)[i];
    const auto type = name.is_string() ? TypeFromName(name.get_string()) : std::nullopt;
    if (!type) return Fail(context, "type", "must name known types");
    if (i > 0) text.push_back(',');
    text.append(name.get_string());
    types = i == 0 ? *type : Unite(types, *type);
  }
  if (count == 0) return Fail(context, "type", "must name a type");
  SchemaDetail& detail = program_->details[context.id];
  detail.types = types;
  detail.type_text = Intern(text);
  detail.type_check = TypeCheck::kFirst;
  if (count == 1) {
    if (text == "number" && HasRulesOfGroup(context, text)) detail.type_check = TypeCheck::kNumber;
    if (text == "string" && HasRulesOfGroup(context, text)) detail.type_check = TypeCheck::kString;
    if (text == "array" && HasRulesOfGroup(context, text)) detail.type_check = TypeCheck::kArray;
    if (text == "object" && HasRulesOfGroup(context, text)) detail.type_check = TypeCheck::kObject;
  }
  SchemaNode& node = program_->schemas[context.id];
  node.types = static_cast<TypeMask>(types & kAllTypes);
  if ((types & kIntegralOnly) != 0) {
    node.flags |= SchemaNode::kNumberRules | SchemaNode::kIntegral;
  }
}

std::optional<double> SchemaBuilder::NumberKeyword(Context& context, std::string_view keyword) {
  const auto* value = context.Find(keyword);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    Fail(context, keyword, "must be number");
    return std::nullopt;
  }
  return NumberOf(*value);
}

const SchemaBuilder::Object* SchemaBuilder::ObjectKeyword(Context& context,
                                                          std::string_view keyword) {
  const auto* value = context.Find(keyword);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) Fail(context, keyword, "must be an object");
  return value->if_object();
}

const boost::json::array* SchemaBuilder::ArrayKeyword(Context& context, std::string_view keyword) {
  const auto* value = context.Find(keyword);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) Fail(context, keyword, "must be an array");
  return value->if_array();
}

std::uint32_t SchemaBuilder::PatternIndex(const Context& context, std::string_view keyword,
                                          std::string_view source) {
  const auto [known, fresh] = pattern_indices_.try_emplace(
      std::string(source), static_cast<std::uint32_t>(program_->patterns.size()));
  if (!fresh) return known->second;
  auto pattern = Pattern::Compile(source);
  if (!pattern) {
    Fail(context, keyword, pattern.error().message);
    return kNowhere;
  }
  program_->patterns.push_back(std::move(*pattern));
  return known->second;
}

}  // namespace sluice::validate
