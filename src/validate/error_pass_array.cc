#include <string>

#include "validate/error_pass.h"

namespace sluice::validate {

void ErrorPass::CheckArray(const ArrayRules& rules, const Value& value) {
  if (defaults_ && !composite_) PutTupleDefaults(rules, value);
  const std::uint32_t at = value.at;
  const auto count = static_cast<double>(Document::Count(event_->at(at)));
  if (rules.has_max && count > rules.max_items) TellCount("maxItems", "items", rules.max_items, at);
  if (rules.has_min && count < rules.min_items) TellCount("minItems", "items", rules.min_items, at);
  if (rules.is_tuple || rules.items != kAnySchema) CheckItems(rules, at);
  if (rules.contains) CheckContains(rules, at);
  if (rules.unique != Unique::kNo) CheckUnique(rules, at);
}

// JavaScript leaves a hole where an entry before the default is missing; it becomes null in the
// text, and so it is null here.
void ErrorPass::PutTupleDefaults(const ArrayRules& rules, const Value& value) {
  for (std::uint32_t i = 0; i < rules.tuple_defaults.count; ++i) {
    const TextRef text = program_->texts[rules.tuple_defaults.first + i];
    if (text.size == 0) continue;
    std::uint32_t count = Document::Count(event_->at(value.at));
    for (; count < i; ++count) event_->AddElement(value.at, "null");
    if (count == i) event_->AddElement(value.at, program_->Text(text));
  }
}

void ErrorPass::CheckItem(SchemaId schema, std::uint32_t item, std::uint32_t index,
                          std::string_view step) {
  if (schema == kAnySchema) return;
  const std::string number = std::to_string(index);
  const PathStep data_step(data_path_, "[", number, "]");
  const PathStep schema_step(schema_path_, step);
  Check(schema, At(item));
}

void ErrorPass::CheckItems(const ArrayRules& rules, std::uint32_t at) {
  const std::uint32_t count = Document::Count(event_->at(at));
  if (rules.additional_forbidden && count > rules.tuple.count) {
    const std::string limit = std::to_string(rules.tuple.count);
    params_.assign(R"({"limit":)").append(limit).append("}");
    message_.assign("should NOT have more than ").append(limit).append(" items");
    Tell("additionalItems", "/additionalItems", params_, message_, at);
  }
  std::uint32_t item = at + 1;
  for (std::uint32_t i = 0; i < count && !stopped_; ++i) {
    if (i < rules.tuple.count) {
      const SchemaId schema = program_->schemas_in_lists[rules.tuple.first + i];
      CheckItem(schema, item, i, "/items/" + std::to_string(i));
    } else {
      CheckItem(rules.items, item, i, rules.is_tuple ? "/additionalItems" : "/items");
    }
    item += event_->at(item)->nodes();
  }
}

void ErrorPass::CheckContains(const ArrayRules& rules, std::uint32_t at) {
  const std::uint32_t count = Document::Count(event_->at(at));
  bool found = rules.contains_schema == kAnySchema && count > 0;
  if (rules.contains_schema != kAnySchema) {
    const ErrorList::Mark mark = errors_.mark();
    const bool composite = std::exchange(composite_, true);
    const PathStep schema_step(schema_path_, "/contains");
    std::uint32_t item = at + 1;
    for (std::uint32_t i = 0; i < count && !found && !stopped_; ++i) {
      const std::string number = std::to_string(i);
      const PathStep data_step(data_path_, "[", number, "]");
      found = Check(rules.contains_schema, At(item));
      item += event_->at(item)->nodes();
    }
    composite_ = composite;
    if (found) errors_.ResetTo(mark);
  }
  if (!found) Tell("contains", "/contains", "{}", "should contain a valid item", at);
}

void ErrorPass::CheckUnique(const ArrayRules& rules, std::uint32_t at) {
  const auto pair =
      equality_.DuplicatePair(event_->document(), event_->at(at), rules.unique, rules.unique_types);
  if (!pair) return;
  const std::string i = std::to_string(pair->first);
  const std::string j = std::to_string(pair->second);
  params_.assign(R"({"i":)").append(i).append(R"(,"j":)").append(j).append("}");
  message_.assign("should NOT have duplicate items (items ## ").append(j).append(" and ");
  message_.append(i).append(" are identical)");
  Tell("uniqueItems", "/uniqueItems", params_, message_, at);
}

}  // namespace sluice::validate
