#include "validate/error_pass.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/json_text.h"
#include "validate/js_number.h"

namespace sluice::validate {
namespace {

void AppendJsonNumber(std::string& out, double value) {
  if (std::isfinite(value)) {
    AppendJsNumber(out, value);
  } else {
    out.append("null");  // as JSON.stringify does
  }
}

}  // namespace

Verdict ErrorPass::Run(const Program& program, EditableEvent& event, UseDefaults defaults) {
  program_ = &program;
  event_ = &event;
  defaults_ = defaults == UseDefaults::kYes && program.has_defaults;
  composite_ = false;
  stopped_ = false;
  reason_ = Exhaustion::kNone;
  depth_ = 0;
  references_left_ = MaxReferences(event.root()->nodes());
  errors_.Clear();
  data_path_.clear();
  schema_path_.assign("#");
  schema_path_begin_ = 0;
  slots_.clear();
  const bool valid = Check(program.root, At(0));
  if (stopped_) return Verdict::kExhausted;
  return valid ? Verdict::kValid : Verdict::kInvalid;
}

void ErrorPass::Stop(Exhaustion reason) {
  if (!stopped_) reason_ = reason;
  stopped_ = true;
}

void ErrorPass::Tell(std::string_view keyword, std::string_view schema_path_end,
                     std::string_view params, std::string_view message, std::uint32_t at) {
  errors_.Add({keyword, data_path_, SchemaPath(), schema_path_end, params, message, at});
}

bool ErrorPass::IsOfType(TypeMask types, const Value& value) const {
  if ((types & TypeBit(value.node.kind())) == 0) return false;
  return value.node.kind() != Kind::kNumber || (types & kIntegralOnly) == 0 ||
         IsIntegral(event_->document().Number(value.node));
}

void ErrorPass::TellType(const SchemaDetail& detail, std::uint32_t at) {
  const std::string_view type = program_->Text(detail.type_text);
  params_.assign(R"({"type":)");
  core::AppendJsonString(params_, type);
  params_.push_back('}');
  message_.assign("should be ").append(type);
  Tell("type", "/type", params_, message_, at);
}

bool ErrorPass::Check(SchemaId id, const Value& value) {
  if (id == kAnySchema || stopped_) return true;
  if (depth_ >= kMaxDepth) {
    Stop(Exhaustion::kDepth);
    return true;
  }
  ++depth_;
  const std::size_t before = errors_.count();
  const SchemaNode& schema = program_->schemas[id];
  const SchemaDetail& detail = program_->details[id];
  if ((schema.flags & SchemaNode::kNever) != 0) {
    Tell("false schema", "/false schema", "{}", "boolean schema is false", value.at);
  } else {
    if (detail.type_check == TypeCheck::kFirst && !IsOfType(detail.types, value)) {
      TellType(detail, value.at);
    }
    if ((schema.flags & SchemaNode::kReference) != 0) {
      CheckReference(program_->references[schema.rest], value);
    } else {
      CheckGroups(schema, detail, value);
    }
  }
  --depth_;
  return errors_.count() == before;
}

// ajv's groups of rules: each runs for values of its type, and some tell others of a wrong type.
void ErrorPass::CheckGroups(const SchemaNode& schema, const SchemaDetail& detail,
                            const Value& value) {
  const Kind kind = value.node.kind();
  if (kind == Kind::kNumber) {
    if ((schema.flags & SchemaNode::kNumberRules) != 0) CheckNumber(schema, detail, value);
  } else if (detail.type_check == TypeCheck::kNumber) {
    TellType(detail, value.at);
  }
  if (kind == Kind::kString) {
    if ((schema.flags & SchemaNode::kStringRules) != 0) CheckString(schema, detail, value);
  } else if (detail.type_check == TypeCheck::kString) {
    TellType(detail, value.at);
  }
  if (kind == Kind::kArray) {
    if (schema.array != kNowhere) CheckArray(program_->arrays[schema.array], value);
  } else if (detail.type_check == TypeCheck::kArray) {
    TellType(detail, value.at);
  }
  if (kind == Kind::kObject) {
    if (schema.object != kNowhere) CheckObject(program_->objects[schema.object], value);
  } else if (detail.type_check == TypeCheck::kObject) {
    TellType(detail, value.at);
  }
  // Containers may have moved what is inside them, and grown: their rest is checked afresh.
  if (schema.rest != kNowhere) {
    const Value now = value.node.is_container() ? At(value.at) : value;
    CheckRest(program_->rests[schema.rest], now);
  }
}

// What ajv inlines is told below the reference's own text; what it compiles to a function of its
// own is told below "#", and takes defaults whatever is around the reference.
void ErrorPass::CheckReference(const Reference& reference, const Value& value) {
  if (references_left_-- == 0) return Stop(Exhaustion::kReferences);
  const std::size_t size = schema_path_.size();
  const std::size_t begin = std::exchange(schema_path_begin_, size);
  const bool composite = composite_;
  if (reference.inlined) {
    schema_path_.append(program_->Text(reference.text));
  } else {
    schema_path_.append("#");
    composite_ = false;
  }
  Check(reference.target, value);
  composite_ = composite;
  schema_path_.resize(size);
  schema_path_begin_ = begin;
}

void ErrorPass::CheckLimit(const Limit& limit, std::string_view keyword,
                           std::string_view exclusive_keyword, std::string_view comparison,
                           const Value& value) {
  params_.assign(R"({"comparison":")").append(comparison);
  if (!limit.exclusive) params_.push_back('=');
  params_.append(R"(","limit":)");
  AppendJsonNumber(params_, limit.value);
  params_.append(limit.exclusive ? R"(,"exclusive":true})" : R"(,"exclusive":false})");
  message_.assign("should be ").append(comparison).append(limit.exclusive ? " " : "= ");
  AppendJsNumber(message_, limit.value);
  const std::string_view told = limit.exclusive ? exclusive_keyword : keyword;
  std::array<char, 24> path{'/'};
  told.copy(path.data() + 1, told.size());
  Tell(told, {path.data(), told.size() + 1}, params_, message_, value.at);
}

void ErrorPass::CheckNumber(const SchemaNode& schema, const SchemaDetail& detail,
                            const Value& value) {
  const double number = event_->document().Number(value.node);
  if (detail.maximum.present && !(number <= schema.maximum)) {
    CheckLimit(detail.maximum, "maximum", "exclusiveMaximum", "<", value);
  }
  if (detail.minimum.present && !(number >= schema.minimum)) {
    CheckLimit(detail.minimum, "minimum", "exclusiveMinimum", ">", value);
  }
  if ((schema.flags & SchemaNode::kMultipleOf) != 0 && !IsMultipleOf(number, schema.multiple_of)) {
    params_.assign(R"({"multipleOf":)");
    AppendJsonNumber(params_, schema.multiple_of);
    params_.push_back('}');
    message_.assign("should be multiple of ");
    AppendJsNumber(message_, schema.multiple_of);
    Tell("multipleOf", "/multipleOf", params_, message_, value.at);
  }
}

// "should NOT have more than 3 items" and its like.
void ErrorPass::TellCount(std::string_view keyword, std::string_view kind, double limit,
                          std::uint32_t at) {
  params_.assign(R"({"limit":)");
  AppendJsonNumber(params_, limit);
  params_.push_back('}');
  const bool is_length = kind == "characters";
  const bool is_max = keyword.starts_with("max");
  message_.assign(is_length ? "should NOT be " : "should NOT have ");
  if (is_length) {
    message_.append(is_max ? "longer" : "shorter");
  } else {
    message_.append(is_max ? "more" : "fewer");
  }
  message_.append(" than ");
  AppendJsNumber(message_, limit);
  message_.append(" ").append(kind);
  std::array<char, 24> path{'/'};
  keyword.copy(path.data() + 1, keyword.size());
  Tell(keyword, {path.data(), keyword.size() + 1}, params_, message_, at);
}

bool ErrorPass::Matches(std::uint32_t pattern, std::string_view text) {
  const MatchResult result = program_->patterns[pattern]->Search(text);
  if (result == MatchResult::kExhausted) {
    pattern_ = pattern;
    Stop(Exhaustion::kPattern);
  }
  return result == MatchResult::kMatch;
}

void ErrorPass::CheckString(const SchemaNode& schema, const SchemaDetail& detail,
                            const Value& value) {
  const std::string_view text = event_->document().String(value.node);
  if (detail.has_max_length || detail.has_min_length) {
    const auto points = static_cast<double>(CountCodePoints(text));
    if (detail.has_max_length && points > detail.max_length) {
      TellCount("maxLength", "characters", detail.max_length, value.at);
    }
    if (detail.has_min_length && points < detail.min_length) {
      TellCount("minLength", "characters", detail.min_length, value.at);
    }
  }
  if (schema.pattern != kNowhere && !Matches(schema.pattern, text)) {
    const std::string& source = program_->patterns[schema.pattern]->source();
    params_.assign(R"({"pattern":)");
    core::AppendJsonString(params_, source);
    params_.push_back('}');
    message_.assign("should match pattern \"").append(source).append("\"");
    Tell("pattern", "/pattern", params_, message_, value.at);
  }
  if (schema.format != SchemaNode::kNoFormat &&
      !MatchesFormat(static_cast<Format>(schema.format), program_->formats, text)) {
    const std::string_view format = ToString(static_cast<Format>(schema.format));
    params_.assign(R"({"format":)");
    core::AppendJsonString(params_, format);
    params_.push_back('}');
    message_.assign("should match format \"").append(format).append("\"");
    Tell("format", "/format", params_, message_, value.at);
  }
}

}  // namespace sluice::validate
