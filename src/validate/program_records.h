#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "validate/document.h"

// The plain records that a compiled schema is made of; they refer to each other by index. Hot
// records hold what deciding "valid" needs, cold ones (…Detail, TextRef) what errors are made of.
namespace sluice::validate {

using SchemaId = std::uint32_t;
inline constexpr SchemaId kAnySchema = 0;              // the schema at 0 has no rules
inline constexpr std::uint32_t kNowhere = 0xffffffff;  // an index of nothing

// A piece of Program::pool.
struct TextRef {
  std::uint32_t at = 0;
  std::uint32_t size = 0;
};

// The types of a schema as a mask: one bit per Kind, bit 7 says that numbers must be integral.
using TypeMask = std::uint8_t;
inline constexpr TypeMask kAllTypes = 0x7f;
inline constexpr TypeMask kIntegralOnly = 0x80;
inline constexpr TypeMask TypeBit(Kind kind) {
  return static_cast<TypeMask>(1u << static_cast<unsigned>(kind));
}

inline constexpr std::size_t kPoolPadding = 32;  // texts are compared in blocks of so many bytes

struct SchemaNode {
  enum Flag : std::uint8_t {
    kNever = 1,         // the schema `false`
    kReference = 2,     // a $ref: `rest` is an index of Program::references
    kNumberRules = 4,   // bounds, multipleOf or integer
    kIntegral = 8,      // numbers must have no fraction
    kStringRules = 16,  // lengths, format or pattern
    kMultipleOf = 32,
  };
  static constexpr std::uint8_t kNoFormat = 0xff;

  // 0 for kNever and kReference, so that the one check of the type also finds them.
  TypeMask types = kAllTypes;
  std::uint8_t flags = 0;
  std::uint8_t format = kNoFormat;
  TypeMask accepts = 0;          // types that need no look at the value
  std::uint32_t min_length = 0;  // code points
  std::uint32_t max_length = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t pattern = kNowhere;
  double minimum = -std::numeric_limits<double>::infinity();  // inclusive; exclusive ones are moved
  double maximum = std::numeric_limits<double>::infinity();   // to the next double
  double multiple_of = 0;                                     // if kMultipleOf
  std::uint32_t object = kNowhere;
  std::uint32_t array = kNowhere;
  std::uint32_t rest = kNowhere;
};

// Where ajv puts the error of `type`: before all groups of rules, or behind the group of that type.
enum class TypeCheck : std::uint8_t { kNone, kFirst, kNumber, kString, kArray, kObject };

struct Limit {
  double value = 0;
  bool present = false;
  bool exclusive = false;
};

struct SchemaDetail {
  TypeMask types = kAllTypes;
  TypeCheck type_check = TypeCheck::kNone;
  bool has_max_length = false;
  bool has_min_length = false;
  TextRef type_text;  // "integer,null"
  Limit maximum;
  Limit minimum;
  double max_length = 0;
  double min_length = 0;
};

struct Reference {
  SchemaId target = kAnySchema;
  TypeMask types = kAllTypes;  // ajv checks `type` beside $ref, and nothing else
  bool inlined = false;        // errors are told below `text`, else below "#"
  TextRef text;
};

struct Property {
  std::uint32_t name = 0;  // in the pool
  std::uint32_t name_size = 0;
  SchemaId schema = kAnySchema;
  std::uint16_t required = 0;    // 1: required; summed up per object
  std::uint8_t has_default = 0;  // 1: as above
  bool declared = false;         // in `properties`, not only in `required`
};

struct PropertyDetail {
  TextRef data_path;          // ".name" or "['na-me']"
  TextRef schema_path;        // "/properties/name"
  TextRef default_json;       // if has_default
  bool told_missing = false;  // its `required` error comes in its place among the properties
};

struct PropertySlot {
  std::uint32_t hash = 0;
  std::uint32_t property = kNowhere;
};

// One slot of an object's table of members: all that the first pass asks about a property.
struct MemberSlot {
  std::uint32_t hash = 0;
  std::uint32_t property = kNowhere;  // kNowhere: an empty slot
  std::uint32_t name = 0;             // in the pool
  std::uint32_t name_size = 0;
  SchemaId schema = kAnySchema;
  TypeMask accepts = 0;  // of the schema; 0 for what is only required
  bool declared = false;
  std::uint64_t counts = 0;  // kRequired and kHasDefault, to be summed up over an object

  static constexpr std::uint64_t kRequired = 1;
  static constexpr std::uint64_t kHasDefault = std::uint64_t{1} << 32;
};

struct PatternProperty {
  std::uint32_t pattern = kNowhere;
  SchemaId schema = kAnySchema;
  TextRef schema_path;
};

struct Dependency {
  TextRef name;
  SchemaId schema = kAnySchema;  // or names
  std::uint32_t names_first = 0;
  std::uint32_t names_count = 0;
  TextRef schema_path;
  TextRef names_text;  // joined by ", "
};

enum class Additional : std::uint8_t { kAllowed, kForbidden, kSchema };

// A list in one of the program's flat arrays.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct ObjectRules {
  Range properties;              // in schema order, then those only required
  std::uint32_t table = 0;       // slots of the open-addressed table
  std::uint32_t table_mask = 0;  // 0: no properties
  std::uint32_t table_shift = 0;
  std::uint32_t required_count = 0;
  std::uint32_t default_count = 0;
  Additional additional = Additional::kAllowed;
  bool has_min = false;
  bool has_max = false;
  bool simple = true;  // nothing but properties, required and additional
  SchemaId additional_schema = kAnySchema;
  SchemaId names = kAnySchema;
  double min_properties = 0;
  double max_properties = 0;
  Range patterns;
  Range name_dependencies;  // those on names are told first
  Range schema_dependencies;
  Range required;  // TextRefs in `texts`: told by the rule `required` itself
};

enum class Unique : std::uint8_t { kNo, kAnyItems, kScalarItems };

struct ArrayRules {
  bool has_min = false;
  bool has_max = false;
  bool is_tuple = false;
  bool additional_forbidden = false;
  bool contains = false;
  Unique unique = Unique::kNo;
  TypeMask unique_types = kAllTypes;  // kScalarItems: others are left out of the comparison
  SchemaId items = kAnySchema;        // of all, or behind a tuple
  SchemaId contains_schema = kAnySchema;
  Range tuple;           // SchemaIds in `schemas_in_lists`
  Range tuple_defaults;  // TextRefs in `texts`, one for each tuple entry (size 0: none); or empty
  double min_items = 0;
  double max_items = 0;
};

// `enum` or `const`: every value, and the values sorted for finding them.
struct ValueSet {
  Range values;           // node indices in `value_nodes`, in schema order
  TypeMask literals = 0;  // null, false, true that are in it
  Range numbers;          // sorted, in `numbers`
  Range compounds;        // arrays and objects, node indices in `value_nodes`
  std::uint32_t table = 0;
  std::uint32_t table_mask = 0;  // 0: no strings; slots hold node indices
};

struct Alternative {
  SchemaId schema = kAnySchema;
  std::uint32_t index = 0;  // its place in the schema's list
};

// The rules that ajv runs last, for values of any type.
struct RestRules {
  std::uint32_t constant = kNowhere;  // in `value_sets`
  std::uint32_t enumeration = kNowhere;
  bool has_not = false;
  bool not_anything = false;  // `not` a schema without rules: always an error
  SchemaId not_schema = kAnySchema;
  Range any_of;
  Range one_of;
  Range all_of;
  bool has_if = false;
  bool has_then = false;
  bool has_else = false;
  SchemaId if_schema = kAnySchema;
  SchemaId then_schema = kAnySchema;
  SchemaId else_schema = kAnySchema;
};

}  // namespace sluice::validate
