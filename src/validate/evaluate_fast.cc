#include "validate/evaluate_fast.h"

#include <cmath>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "validate/reader.h"

namespace sluice::validate {
namespace {

// Two texts of one length of at most 32, behind whose begins 32 bytes are readable, compared in
// blocks, whatever their length.
inline bool SameBlocks(const char* a, const char* b, std::size_t size) {
#if defined(__SSE2__)
  const auto equal = [&](std::size_t at) {
    const auto* x = reinterpret_cast<const __m128i*>(a + at);
    const auto* y = reinterpret_cast<const __m128i*>(b + at);
    return static_cast<std::uint64_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(x), _mm_loadu_si128(y))));
  };
  const std::uint64_t wanted = (std::uint64_t{1} << size) - 1;
  std::uint64_t same = equal(0);
  if (size > 16) same |= equal(16) << 16;
  return (wanted & ~same) == 0;
#else
  return std::memcmp(a, b, size) == 0;
#endif
}
constexpr std::size_t kBlocks = 32;
static_assert(kBlocks <= kReadPadding && kBlocks <= kPoolPadding);

}  // namespace

inline std::string_view FastPass::String(const Node* text) const {
  // Most texts stand in the body as they are.
  if (text->has(Node::kEscaped) || text->begin >= body_size_) [[unlikely]] {
    return document_.String(*text);
  }
  return {body_ + text->begin + 1, text->end - text->begin - 2};
}

inline bool FastPass::IsNamed(const MemberSlot& slot, const Node* key) const {
  const char* const name = pool_ + slot.name;
  if (key->has(Node::kEscaped) || key->begin >= body_size_ || slot.name_size > kBlocks)
      [[unlikely]] {
    return String(key) == std::string_view(name, slot.name_size);
  }
  return key->end - key->begin - 2 == slot.name_size &&
         SameBlocks(body_ + key->begin + 1, name, slot.name_size);
}

inline const MemberSlot* FastPass::Lookup(const ObjectRules& rules, const Node* key) const {
  const std::uint32_t hash = key->extra();
  const MemberSlot* const table = slots_ + rules.table;
  for (std::uint32_t at = hash >> rules.table_shift;; ++at) {
    const MemberSlot& slot = table[at & rules.table_mask];
    if (slot.hash == hash && slot.property != kNowhere && IsNamed(slot, key)) [[likely]] {
      return &slot;
    }
    if (slot.property == kNowhere) return nullptr;
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

// Mostly decided without a frame of its own: the calls are the last thing it does.
bool FastPass::Check(SchemaId id, const Node* value) {
  const SchemaNode& schema = schemas_[id];
  const Kind kind = value->kind();
  if ((schema.types & TypeBit(kind)) == 0) [[unlikely]]
    return CheckSpecial(schema, value);
  if (schema.rest == kNowhere) {
    if (kind == Kind::kString) {
      return (schema.flags & SchemaNode::kStringRules) == 0 || CheckString(schema, value);
    }
    if (kind == Kind::kNumber) {
      return (schema.flags & SchemaNode::kNumberRules) == 0 || CheckNumber(schema, value);
    }
  }
  return CheckGroups(schema, value);
}

bool FastPass::CheckGroups(const SchemaNode& schema, const Node* value) {
  switch (value->kind()) {
    case Kind::kNumber:
      if ((schema.flags & SchemaNode::kNumberRules) != 0 && !CheckNumber(schema, value)) {
        return false;
      }
      break;
    case Kind::kKey:
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
  Kind kind = value->kind();
  if (kind == Kind::kKey) {  // under propertyNames: its bit is not a type
    kind = Kind::kString;
    if ((schema.types & TypeBit(kind)) != 0) return CheckGroups(schema, value);
  }
  if ((schema.flags & SchemaNode::kReference) == 0) return false;
  const Reference& reference = program_.references[schema.rest];
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
  std::uint64_t counts = 0;
  const Node* const end = object + object->nodes();
  for (const Node* key = object + 1; key < end;) {
    const Node* value = key + 1;
    const MemberSlot* slot = rules.table_mask == 0 ? nullptr : Lookup(rules, key);
    if (slot != nullptr) counts += slot->counts;
    if (slot != nullptr && slot->declared) {
      const bool accepted = (slot->accepts & TypeBit(value->kind())) != 0;
      if (!accepted && !Check(slot->schema, value)) return false;
    } else if (rules.additional != Additional::kAllowed && !CheckAdditional(rules, key)) {
      return false;
    }
    key = value + value->nodes();
  }
  if (counts / MemberSlot::kHasDefault != rules.default_count && defaults_) {
    needs_defaults_ = true;
    return Stop(Exhaustion::kNone);
  }
  return counts % MemberSlot::kHasDefault == rules.required_count;
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
