#include <algorithm>
#include <cmath>

#include "validate/schema_builder.h"

// Numbers, strings, and the rules for values of any type.
namespace sluice::validate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLengthEnd = std::numeric_limits<std::uint32_t>::max();

// No keyword of a count of code points reaches beyond what a text can have.
std::uint32_t UpperLength(double limit) {
  if (limit >= kLengthEnd) return std::numeric_limits<std::uint32_t>::max();
  return limit < 0 ? 0 : static_cast<std::uint32_t>(std::floor(limit));
}

std::uint32_t LowerLength(double limit) {
  if (limit >= kLengthEnd) return std::numeric_limits<std::uint32_t>::max();
  return limit < 0 ? 0 : static_cast<std::uint32_t>(std::ceil(limit));
}

}  // namespace

// ajv folds a limit and its exclusive form into one: the stricter one is checked, and told.
void SchemaBuilder::BuildLimit(Context& context, std::string_view keyword,
                               std::string_view exclusive_keyword, Bound bound) {
  const bool is_maximum = bound == Bound::kMaximum;
  const std::optional<double> plain = NumberKeyword(context, keyword);
  const auto* exclusive = context.Find(exclusive_keyword);
  if (exclusive != nullptr && !exclusive->is_number() && !exclusive->is_bool()) {
    return Fail(context, exclusive_keyword, "must be number or boolean");
  }
  Limit limit;
  if (exclusive != nullptr && exclusive->is_number()) {
    const double strict = *NumberKeyword(context, exclusive_keyword);
    limit.present = true;
    limit.value = !plain       ? strict
                  : is_maximum ? std::min(strict, *plain)
                               : std::max(strict, *plain);
    limit.exclusive = limit.value == strict;
  } else if (plain) {
    limit.present = true;
    limit.value = *plain;
    limit.exclusive = exclusive != nullptr && exclusive->get_bool();
  }
  if (!limit.present) return;
  SchemaNode& node = program_->schemas[context.id];
  node.flags |= SchemaNode::kNumberRules;
  const double toward = is_maximum ? -kInfinity : kInfinity;
  const double inclusive = limit.exclusive ? std::nextafter(limit.value, toward) : limit.value;
  (is_maximum ? node.maximum : node.minimum) = inclusive;
  (is_maximum ? program_->details[context.id].maximum : program_->details[context.id].minimum) =
      limit;
}

void SchemaBuilder::BuildNumber(Context& context) {
  BuildLimit(context, "maximum", "exclusiveMaximum", Bound::kMaximum);
  BuildLimit(context, "minimum", "exclusiveMinimum", Bound::kMinimum);
  if (const auto divisor = NumberKeyword(context, "multipleOf")) {
    program_->schemas[context.id].multiple_of = *divisor;
    program_->schemas[context.id].flags |= SchemaNode::kNumberRules | SchemaNode::kMultipleOf;
  }
}

void SchemaBuilder::BuildString(Context& context) {
  SchemaNode& node = program_->schemas[context.id];
  SchemaDetail& detail = program_->details[context.id];
  if (const auto limit = NumberKeyword(context, "maxLength")) {
    node.flags |= SchemaNode::kStringRules;
    node.max_length = UpperLength(*limit);
    detail.has_max_length = true;
    detail.max_length = *limit;
  }
  if (const auto limit = NumberKeyword(context, "minLength")) {
    node.flags |= SchemaNode::kStringRules;
    node.min_length = LowerLength(*limit);
    detail.has_min_length = true;
    detail.min_length = *limit;
  }
  if (const auto* pattern = context.Find("pattern")) {
    if (!pattern->is_string()) return Fail(context, "pattern", "must be a string");
    node.flags |= SchemaNode::kStringRules;
    node.pattern = PatternIndex(context, "pattern", pattern->get_string());
  }
  if (const auto* name = context.Find("format")) {
    if (!name->is_string()) return Fail(context, "format", "must be a string");
    const std::string_view text = name->get_string();
    const auto format = FormatFromName(text);
    if (!format) {
      return Fail(context, "format", "unknown format \"" + std::string(text) + "\" is used");
    }
    node.flags |= SchemaNode::kStringRules;
    node.format = static_cast<std::uint8_t>(*format);
  }
}

Range SchemaBuilder::BuildAlternatives(Context& context, std::string_view keyword) {
  Range range{static_cast<std::uint32_t>(program_->alternatives.size()), 0};
  const auto* list = ArrayKeyword(context, keyword);
  if (list == nullptr) return range;
  std::vector<Alternative> alternatives;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const SchemaId schema = Child(context, (*list)[i], keyword, std::to_string(i));
    alternatives.push_back({schema, static_cast<std::uint32_t>(i)});
  }
  range.count = static_cast<std::uint32_t>(alternatives.size());
  program_->alternatives.insert(program_->alternatives.end(), alternatives.begin(),
                                alternatives.end());
  return range;
}

void SchemaBuilder::BuildCondition(Context& context, RestRules& rules) {
  const auto* condition = context.Find("if");
  if (condition == nullptr) return;
  const auto* then = context.Find("then");
  const auto* otherwise = context.Find("else");
  if (then != nullptr) rules.then_schema = Child(context, *then, "then");
  if (otherwise != nullptr) rules.else_schema = Child(context, *otherwise, "else");
  rules.has_then = rules.then_schema != kAnySchema;
  rules.has_else = rules.else_schema != kAnySchema;
  rules.has_if = rules.has_then || rules.has_else;
  if (rules.has_if) rules.if_schema = Child(context, *condition, "if");
}

void SchemaBuilder::BuildRest(Context& context) {
  RestRules rules;
  if (const auto* constant = context.Find("const")) rules.constant = values_.Add(constant, 1);
  if (const auto* values = ArrayKeyword(context, "enum")) {
    rules.enumeration = values_.Add(values->data(), values->size());
  }
  if (const auto* negated = context.Find("not")) {
    rules.has_not = true;
    rules.not_schema = Child(context, *negated, "not");
    rules.not_anything = rules.not_schema == kAnySchema;
  }
  // One alternative without rules makes anyOf true: ajv then does not even look at the others.
  const auto* any_of = ArrayKeyword(context, "anyOf");
  if (any_of != nullptr && std::all_of(any_of->begin(), any_of->end(), HasRules)) {
    rules.any_of = BuildAlternatives(context, "anyOf");
  }
  rules.one_of = BuildAlternatives(context, "oneOf");
  rules.all_of = BuildAlternatives(context, "allOf");
  BuildCondition(context, rules);
  if (rules.constant == kNowhere && rules.enumeration == kNowhere && !rules.has_not &&
      rules.any_of.count + rules.one_of.count + rules.all_of.count == 0 && !rules.has_if) {
    return;
  }
  program_->schemas[context.id].rest = static_cast<std::uint32_t>(program_->rests.size());
  program_->rests.push_back(rules);
}

}  // namespace sluice::validate
