#include <string>

#include "validate/error_pass.h"

// The rules for values of any type.
namespace sluice::validate {

void ErrorPass::CheckRest(const RestRules& rules, const Value& value) {
  if (rules.constant != kNowhere) CheckValueSet(rules.constant, "const", value);
  if (rules.enumeration != kNowhere) CheckValueSet(rules.enumeration, "enum", value);
  if (rules.has_not) CheckNot(rules, value);
  if (rules.any_of.count > 0) CheckAnyOf(rules.any_of, value);
  if (rules.one_of.count > 0) CheckOneOf(rules.one_of, value);
  for (std::uint32_t i = 0; i < rules.all_of.count; ++i) {
    const Value now = value.node.is_container() ? At(value.at) : value;
    CheckAlternative("/allOf/", program_->alternatives[rules.all_of.first + i], now);
  }
  if (rules.has_if) {
    CheckCondition(rules, value.node.is_container() ? At(value.at) : value);
  }
}

void ErrorPass::CheckValueSet(std::uint32_t index, std::string_view keyword, const Value& value) {
  const ValueSet& set = program_->value_sets[index];
  // The copy of a scalar will do, but what is inside a container stands in the event only.
  const Node* node = value.node.is_container() ? event_->at(value.at) : &value.node;
  if (equality_.Contains(*program_, set, event_->document(), node)) return;
  const auto text = [&](std::uint32_t i) {
    return program_->values.Text(
        program_->values.nodes[program_->value_nodes[set.values.first + i]]);
  };
  if (keyword == "const") {
    params_.assign(R"({"allowedValue":)").append(text(0)).append("}");
    Tell("const", "/const", params_, "should be equal to constant", value.at);
    return;
  }
  params_.assign(R"({"allowedValues":[)");
  for (std::uint32_t i = 0; i < set.values.count; ++i) {
    if (i > 0) params_.push_back(',');
    params_.append(text(i));
  }
  params_.append("]}");
  Tell("enum", "/enum", params_, "should be equal to one of the allowed values", value.at);
}

void ErrorPass::CheckNot(const RestRules& rules, const Value& value) {
  bool matches = true;
  if (!rules.not_anything) {
    const ErrorList::Mark mark = errors_.mark();
    const bool composite = std::exchange(composite_, true);
    const PathStep step(schema_path_, "/not");
    errors_.Mute();
    matches = Check(rules.not_schema, value);
    errors_.Unmute();
    errors_.ResetTo(mark);
    composite_ = composite;
  }
  if (matches) Tell("not", "/not", "{}", "should NOT be valid", value.at);
}

bool ErrorPass::CheckAlternative(std::string_view keyword, const Alternative& alternative,
                                 const Value& value) {
  if (alternative.schema == kAnySchema) return true;
  const PathStep step(schema_path_, keyword, std::to_string(alternative.index));
  return Check(alternative.schema, value);
}

void ErrorPass::CheckAnyOf(Range alternatives, const Value& value) {
  const ErrorList::Mark mark = errors_.mark();
  const bool composite = std::exchange(composite_, true);
  bool valid = false;
  for (std::uint32_t i = 0; i < alternatives.count && !valid && !stopped_; ++i) {
    valid = CheckAlternative("/anyOf/", program_->alternatives[alternatives.first + i],
                             value.node.is_container() ? At(value.at) : value);
  }
  composite_ = composite;
  if (valid) {
    errors_.ResetTo(mark);
  } else {
    Tell("anyOf", "/anyOf", "{}", "should match some schema in anyOf", value.at);
  }
}

void ErrorPass::CheckOneOf(Range alternatives, const Value& value) {
  const ErrorList::Mark mark = errors_.mark();
  const bool composite = std::exchange(composite_, true);
  std::uint32_t passing = kNowhere;
  std::uint32_t second = kNowhere;
  for (std::uint32_t i = 0; i < alternatives.count && second == kNowhere && !stopped_; ++i) {
    const bool valid = CheckAlternative("/oneOf/", program_->alternatives[alternatives.first + i],
                                        value.node.is_container() ? At(value.at) : value);
    if (valid) (passing == kNowhere ? passing : second) = i;
  }
  composite_ = composite;
  if (passing != kNowhere && second == kNowhere) {
    errors_.ResetTo(mark);
    return;
  }
  params_.assign(R"({"passingSchemas":)");
  if (passing == kNowhere) {
    params_.append("null}");
  } else {
    params_.append("[").append(std::to_string(passing)).append(",");
    params_.append(std::to_string(second)).append("]}");
  }
  Tell("oneOf", "/oneOf", params_, "should match exactly one schema in oneOf", value.at);
}

void ErrorPass::CheckCondition(const RestRules& rules, const Value& value) {
  const ErrorList::Mark mark = errors_.mark();
  const bool composite = std::exchange(composite_, true);
  bool condition = true;
  {
    const PathStep step(schema_path_, "/if");
    errors_.Mute();
    condition = Check(rules.if_schema, value);
    errors_.Unmute();
    errors_.ResetTo(mark);
  }
  composite_ = composite;
  if (condition ? !rules.has_then : !rules.has_else) return;
  bool valid = true;
  {
    const PathStep step(schema_path_, condition ? "/then" : "/else");
    valid = Check(condition ? rules.then_schema : rules.else_schema,
                  value.node.is_container() ? At(value.at) : value);
  }
  if (valid) return;
  const std::string_view clause = condition ? "then" : "else";
  params_.assign(R"({"failingKeyword":")").append(clause).append("\"}");
  message_.assign("should match \"").append(clause).append("\" schema");
  Tell("if", "/if", params_, message_, value.at);
}

}  // namespace sluice::validate
