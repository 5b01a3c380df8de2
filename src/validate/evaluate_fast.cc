#include "validate/evaluate_fast.h"

#include <cmath>
#include <cstring>

namespace sluice::validate {
namespace {

template <class Word>
inline bool SameEnds(const char* a, const char* b, std::size_t size) {
  Word first_a, first_b, last_a, last_b;
  std::memcpy(&first_a, a, sizeof(Word));
  std::memcpy(&first_b, b, sizeof(Word));
  std::memcpy(&last_a, a + size - sizeof(Word), sizeof(Word));
  std::memcpy(&last_b, b + size - sizeof(Word), sizeof(Word));
  return ((first_a ^ first_b) | (last_a ^ last_b)) == 0;
}

// Two texts of one length; faster than memcmp for the few bytes that keys have.
inline bool SameBytes(const char* a, const char* b, std::size_t size) {
  if (size > 16) [[unlikely]]
    return std::memcmp(a, b, size) == 0;
  if (size >= 8) return SameEnds<std::uint64_t>(a, b, size);
  if (size >= 4) return SameEnds<std::uint32_t>(a, b, size);
  if (size >= 2) return SameEnds<std::uint16_t>(a, b, size);
  return size == 0 || *a == *b;
}

}  // namespace

inline std::string_view FastPass::String(const Node* text) const {
  // Most texts stand in the body as they are.
  if (text->has(Node::kEscaped) || text->begin >= body_size_) [[unlikely]] {
    return document_.String(*text);
  }
  return {body_ + text->begin + 1, text->end - text->begin - 2};
}

inline const Property* FastPass::Lookup(const ObjectRules& rules, const Node* key) const {
  const std::uint32_t hash = key->extra();
  const PropertySlot* table = slots_ + rules.table;
  for (std::uint32_t slot = hash >> rules.table_shift;; ++slot) {
    const PropertySlot& entry = table[slot & rules.table_mask];
    if (entry.property == kNowhere) return nullptr;
    if (entry.hash != hash) continue;
    const Property& property = properties_[entry.property];
    const std::string_view name = String(key);
    if (name.size() == property.name_size &&
        SameBytes(name.data(), pool_ + property.name, name.size())) [[likely]] {
      return &property;
    }
  }
}

FastPass::Outcome FastPass::Run(const Node* root, UseDefaults defaults) {
  defaults_ = defaults == UseDefaults::kYes && program_.has_defaults;
  references_left_ = MaxReferences(root->nodes());
  const bool valid = Check(program_.root, root);
  if (needs_defaults_) return Outcome::kNeedsDefaults;
  if (stopped_) return Outcome::kExhausted;
  return valid ? Outcome::kValid : Outcome::kInvalid;
}

bool FastPass::Stop(Exhaustion reason) {
  stopped_ = true;
  if (reason_ == Exhaustion::kNone) reason_ = reason;
  return false;
}

bool FastPass::Check(SchemaId id, const Node* value) {
  const SchemaNode& schema = schemas_[id];
  Kind kind = value->kind();
  if (kind == Kind::kKey) kind = Kind::kString;  // under propertyNames
  if ((schema.types & TypeBit(kind)) == 0) return CheckSpecial(schema, value);
  switch (kind) {
    case Kind::kNumber:
      if ((schema.flags & SchemaNode::kNumberRules) != 0 && !CheckNumber(schema, value)) {
        return false;
      }
      break;
    case Kind::kString:
      if ((schema.flags & SchemaNode::kStringRules) != 0 && !CheckString(schema, value)) {
        return false;
      }
      break;
    case Kind::kArray:
      if (schema.array != kNowhere && !CheckArray(program_.arrays[schema.array], value))
        return false;
      break;
    case Kind::kObject:
      if (schema.object != kNowhere && !CheckObject(program_.objects[schema.object], value)) {
        return false;
      }
      break;
    default:
      break;
  }
  return schema.rest == kNowhere || CheckRest(program_.rests[schema.rest], value);
}

// Of a schema that does not take the type: `false`, a wrong type, or a reference.
bool FastPass::CheckSpecial(const SchemaNode& schema, const Node* value) {
  if ((schema.flags & SchemaNode::kReference) == 0) return false;
  const Reference& reference = program_.references[schema.rest];
  const Kind kind = value->kind() == Kind::kKey ? Kind::kString : value->kind();
  if ((reference.types & TypeBit(kind)) == 0) return false;
  if (kind == Kind::kNumber && (reference.types & kIntegralOnly) != 0 &&
      !IsIntegral(document_.Number(*value))) {
    return false;
  }
  if (references_left_-- == 0) return Stop(Exhaustion::kReferences);
  if (++depth_ > kMaxDepth) return Stop(Exhaustion::kDepth);
  const bool valid = Check(reference.target, value);
  --depth_;
  return valid;
}

bool FastPass::CheckNumber(const SchemaNode& schema, const Node* value) const {
  const double number = document_.Number(*value);
  if (!(number >= schema.minimum && number <= schema.maximum)) return false;
  if ((schema.flags & SchemaNode::kIntegral) != 0 && !value->has(Node::kInteger) &&
      !IsIntegral(number)) {
    return false;
  }
  return (schema.flags & SchemaNode::kMultipleOf) == 0 || IsMultipleOf(number, schema.multiple_of);
}

bool FastPass::Matches(std::uint32_t pattern, std::string_view text) {
  const MatchResult result = program_.patterns[pattern]->Search(text);
  if (result == MatchResult::kExhausted) {
    pattern_ = pattern;
    return Stop(Exhaustion::kPattern);
  }
  return result == MatchResult::kMatch;
}

bool FastPass::CheckString(const SchemaNode& schema, const Node* text) {
  const std::string_view string = String(text);
  // A code point is one to four bytes, so that the bytes alone mostly decide.
  const std::size_t bytes = string.size();
  if (bytes < schema.min_length) return false;
  if (bytes > schema.max_length || bytes / 4 < schema.min_length) {
    if (bytes / 4 > schema.max_length) return false;
    const bool counts = bytes > schema.max_length || schema.min_length > 1;
    if (counts) {
      const std::size_t points = CountCodePoints(string);
      if (points > schema.max_length || points < schema.min_length) return false;
    }
  }
  if (schema.pattern != kNowhere && !Matches(schema.pattern, string)) return false;
  return schema.format == SchemaNode::kNoFormat ||
         MatchesFormat(static_cast<Format>(schema.format), program_.formats, string);
}

bool FastPass::CheckArray(const ArrayRules& rules, const Node* array) {
  if (++depth_ > kMaxDepth) return Stop(Exhaustion::kDepth);
  const std::uint32_t count = Document::Count(array);
  if (rules.tuple_defaults.count > count && defaults_) {
    for (std::uint32_t i = count; i < rules.tuple_defaults.count; ++i) {
      if (program_.texts[rules.tuple_defaults.first + i].size == 0) continue;
      needs_defaults_ = true;
      return Stop(Exhaustion::kNone);
    }
  }
  if (rules.has_max && count > rules.max_items) return false;
  if (rules.has_min && count < rules.min_items) return false;
  if (rules.additional_forbidden && count > rules.tuple.count) return false;
  if (rules.is_tuple || rules.items != kAnySchema) {
    const SchemaId* tuple = program_.schemas_in_lists.data() + rules.tuple.first;
    std::uint32_t index = 0;
    const Node* const end = array + array->nodes();
    for (const Node* item = array + 1; item < end; item += item->nodes(), ++index) {
      if (!Check(index < rules.tuple.count ? tuple[index] : rules.items, item)) return false;
    }
  }
  if (rules.contains && !CheckContains(rules, array)) return false;
  if (rules.unique != Unique::kNo && equality_.HasDuplicates(document_, array)) return false;
  --depth_;
  return true;
}

bool FastPass::CheckContains(const ArrayRules& rules, const Node* array) {
  const Node* const end = array + array->nodes();
  for (const Node* item = array + 1; item < end; item += item->nodes()) {
    const std::uint32_t depth = depth_;
    if (Check(rules.contains_schema, item)) return true;
    if (stopped()) return false;
    depth_ = depth;
  }
  return false;
}

bool FastPass::CheckObject(const ObjectRules& rules, const Node* object) {
  if (++depth_ > kMaxDepth) return Stop(Exhaustion::kDepth);
  if (!CheckMembers(rules, object)) return false;
  if (!rules.simple && !CheckOtherRules(rules, object)) return false;
  --depth_;
  return true;
}

bool FastPass::CheckMembers(const ObjectRules& rules, const Node* object) {
  // Keys are unique, so that counting the required ones that are there is enough.
  std::uint32_t required = 0;
  std::uint32_t defaults = 0;
  const Node* const end = object + object->nodes();
  for (const Node* key = object + 1; key < end;) {
    const Node* value = key + 1;
    const Property* property = rules.table_mask == 0 ? nullptr : Lookup(rules, key);
    if (property != nullptr) {
      required += property->required;
      defaults += property->has_default;
    }
    if (property != nullptr && property->declared) {
      const bool accepted = (schemas_[property->schema].accepts & TypeBit(value->kind())) != 0;
      if (!accepted && !Check(property->schema, value)) return false;
    } else if (rules.additional != Additional::kAllowed && !CheckAdditional(rules, key)) {
      return false;
    }
    key = value + value->nodes();
  }
  if (defaults != rules.default_count && defaults_) {
    needs_defaults_ = true;
    return Stop(Exhaustion::kNone);
  }
  return required == rules.required_count;
}

bool FastPass::CheckAdditional(const ObjectRules& rules, const Node* key) {
  for (std::uint32_t i = 0; i < rules.patterns.count; ++i) {
    const PatternProperty& pattern = program_.pattern_properties[rules.patterns.first + i];
    if (Matches(pattern.pattern, document_.String(*key))) return true;
    if (stopped()) return false;
  }
  return rules.additional == Additional::kSchema && Check(rules.additional_schema, key + 1);
}

bool FastPass::CheckPatterns(const ObjectRules& rules, const Node* object) {
  const Node* const end = object + object->nodes();
  for (const Node* key = object + 1; key < end; key = key + 1 + (key + 1)->nodes()) {
    for (std::uint32_t i = 0; i < rules.patterns.count; ++i) {
      const PatternProperty& pattern = program_.pattern_properties[rules.patterns.first + i];
      if (pattern.schema == kAnySchema) continue;
      if (Matches(pattern.pattern, document_.String(*key)) && !Check(pattern.schema, key + 1)) {
        return false;
      }
      if (stopped()) return false;
    }
  }
  return true;
}

bool FastPass::CheckOtherRules(const ObjectRules& rules, const Node* object) {
  if (rules.has_max || rules.has_min) {
    const std::uint32_t count = Document::Count(object);
    if (rules.has_max && count > rules.max_properties) return false;
    if (rules.has_min && count < rules.min_properties) return false;
  }
  for (std::uint32_t i = 0; i < rules.name_dependencies.count; ++i) {
    const Dependency& dependency = program_.dependencies[rules.name_dependencies.first + i];
    if (document_.Find(object, program_.Text(dependency.name)) == nullptr) continue;
    for (std::uint32_t n = 0; n < dependency.names_count; ++n) {
      const std::string_view name = program_.Text(program_.texts[dependency.names_first + n]);
      if (document_.Find(object, name) == nullptr) return false;
    }
  }
  for (std::uint32_t i = 0; i < rules.schema_dependencies.count; ++i) {
    const Dependency& dependency = program_.dependencies[rules.schema_dependencies.first + i];
    if (document_.Find(object, program_.Text(dependency.name)) == nullptr) continue;
    if (!Check(dependency.schema, object)) return false;
  }
  if (rules.names != kAnySchema) {
    const Node* const end = object + object->nodes();
    for (const Node* key = object + 1; key < end; key = key + 1 + (key + 1)->nodes()) {
      if (!Check(rules.names, key)) return false;
    }
  }
  return rules.patterns.count == 0 || CheckPatterns(rules, object);
}

bool FastPass::CheckOneOf(Range alternatives, const Node* value) {
  std::uint32_t passing = 0;
  for (std::uint32_t i = 0; i < alternatives.count; ++i) {
    const std::uint32_t depth = depth_;
    if (Check(program_.alternatives[alternatives.first + i].schema, value)) ++passing;
    if (stopped() || passing > 1) return false;
    depth_ = depth;
  }
  return passing == 1;
}

bool FastPass::CheckRest(const RestRules& rules, const Node* value) {
  if (++depth_ > kMaxDepth) return Stop(Exhaustion::kDepth);
  const std::uint32_t depth = depth_;
  for (const std::uint32_t set : {rules.constant, rules.enumeration}) {
    if (set != kNowhere &&
        !equality_.Contains(program_, program_.value_sets[set], document_, value)) {
      return false;
    }
  }
  if (rules.has_not) {
    if (rules.not_anything || Check(rules.not_schema, value) || stopped()) return false;
    depth_ = depth;
  }
  if (rules.any_of.count > 0) {
    bool valid = false;
    for (std::uint32_t i = 0; i < rules.any_of.count && !valid; ++i) {
      depth_ = depth;
      valid = Check(program_.alternatives[rules.any_of.first + i].schema, value);
      if (stopped()) return false;
    }
    if (!valid) return false;
  }
  if (rules.one_of.count > 0 && !CheckOneOf(rules.one_of, value)) return false;
  for (std::uint32_t i = 0; i < rules.all_of.count; ++i) {
    if (!Check(program_.alternatives[rules.all_of.first + i].schema, value)) return false;
  }
  if (rules.has_if) {
    const bool condition = Check(rules.if_schema, value);
    if (stopped()) return false;
    depth_ = depth;
    const bool has_clause = condition ? rules.has_then : rules.has_else;
    if (has_clause && !Check(condition ? rules.then_schema : rules.else_schema, value)) {
      return false;
    }
  }
  --depth_;
  return true;
}

}  // namespace sluice::validate
