#include "validate/secure_check.h"

#include <algorithm>
#include <string_view>

#include "validate/schema_text.h"

namespace sluice::validate {
namespace {

bool IsCompoundType(const boost::json::value& name) {
  return name.is_string() && (name.get_string() == "object" || name.get_string() == "array");
}

// Whether items may be arrays or objects as far as `items` tells: anything but an object with a
// scalar `type` counts as that.
bool ItemsMayBeCompound(const boost::json::object& schema) {
  const auto* items = schema.if_contains("items");
  const auto* type =
      items != nullptr && items->is_object() ? items->get_object().if_contains("type") : nullptr;
  if (type == nullptr) return true;
  if (const auto* list = type->if_array()) {
    return std::any_of(list->begin(), list->end(), IsCompoundType);
  }
  return IsCompoundType(*type);
}

class Walk {
 public:
  std::string Take() { return std::move(problem_); }

  void Schema(const boost::json::value& value) {
    const auto* schema = value.if_object();
    if (schema == nullptr || !problem_.empty()) return;
    CheckRules(*schema);
    for (const auto& [key, member] : MembersInOrder(*schema)) {
      if (!problem_.empty()) return;
      const std::size_t length = pointer_.size();
      AppendPointerStep(pointer_, key);
      Keyword(key, *member);
      pointer_.resize(length);
    }
  }

 private:
  static bool Has(const boost::json::object& schema, std::string_view key) {
    return schema.if_contains(key) != nullptr;
  }

  void CheckRules(const boost::json::object& schema) {
    if (Has(schema, "pattern") && !Has(schema, "maxLength")) Fail("pattern", "maxLength beside it");
    if (Has(schema, "format") && !Has(schema, "maxLength")) Fail("format", "maxLength beside it");
    if (Has(schema, "patternProperties")) {
      const auto* names = schema.if_contains("propertyNames");
      const auto* rules = names == nullptr ? nullptr : names->if_object();
      // A boolean has no maxLength to ask for.
      if (names == nullptr || (rules != nullptr && !Has(*rules, "maxLength"))) {
        Fail("patternProperties", "propertyNames with maxLength beside it");
      }
    }
    const auto* unique = schema.if_contains("uniqueItems");
    if (unique != nullptr && unique->is_bool() && unique->get_bool() && !Has(schema, "maxItems") &&
        ItemsMayBeCompound(schema)) {
      Fail("uniqueItems", "maxItems beside it, or items of a scalar type");
    }
  }

  void Keyword(std::string_view key, const boost::json::value& value) {
    static constexpr std::string_view kOne[] = {
        "additionalItems", "additionalProperties", "items", "if", "then", "else", "not",
        "contains",        "propertyNames"};
    static constexpr std::string_view kMaps[] = {"definitions", "patternProperties", "properties",
                                                 "dependencies"};
    static constexpr std::string_view kLists[] = {"allOf", "anyOf", "oneOf", "items"};
    const auto is = [key](const auto& words) {
      return std::find(std::begin(words), std::end(words), key) != std::end(words);
    };
    if (value.is_object() && is(kOne)) {
      Schema(value);
    } else if (value.is_object() && is(kMaps)) {
      for (const auto& [name, schema] : MembersInOrder(value.get_object())) Below(name, *schema);
    } else if (value.is_array() && is(kLists)) {
      std::size_t i = 0;
      for (const auto& schema : value.get_array()) Below(std::to_string(i++), schema);
    }
  }

  void Below(std::string_view step, const boost::json::value& schema) {
    const std::size_t length = pointer_.size();
    AppendPointerStep(pointer_, step);
    Schema(schema);
    pointer_.resize(length);
  }

  void Fail(std::string_view keyword, std::string_view wants) {
    if (!problem_.empty()) return;
    problem_ = "the schema is not secure at \"" + pointer_ + "\": " + std::string(keyword) +
               " needs " + std::string(wants);
  }

  std::string pointer_;
  std::string problem_;
};

}  // namespace

std::string CheckSecure(const boost::json::value& schema) {
  Walk walk;
  walk.Schema(schema);
  return walk.Take();
}

}  // namespace sluice::validate
