#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "validate/editable_event.h"
#include "validate/error_list.h"
#include "validate/evaluate_equal.h"
#include "validate/evaluate_limits.h"
#include "validate/program.h"

namespace sluice::validate {

// The second pass, over an event that is not valid or that lacks defaults: runs every rule in the
// order of ajv 6's generated code, puts defaults in where that code does, and tells every error as
// it does. Values are held by index, since nodes move when a default is put in. Reused; one per
// thread.
class ErrorPass {
 public:
  ErrorPass(ErrorList& errors, ValueEquality& equality) : errors_(errors), equality_(equality) {}

  // Returns kValid, kInvalid (the list has the errors) or kExhausted (reason() says of what).
  Verdict Run(const Program& program, EditableEvent& event, UseDefaults defaults);
  Exhaustion reason() const { return reason_; }
  std::uint32_t pattern() const { return pattern_; }

 private:
  // A value: `node` is a copy, `at` its index in the event.
  struct Value {
    Node node;
    std::uint32_t at;
  };
  Value At(std::uint32_t at) const { return {*event_->at(at), at}; }

  // Whether no error was told.
  bool Check(SchemaId id, const Value& value);
  void CheckReference(const Reference& reference, const Value& value);
  void CheckGroups(const SchemaNode& schema, const SchemaDetail& detail, const Value& value);
  bool IsOfType(TypeMask types, const Value& value) const;

  void CheckNumber(const SchemaNode& schema, const SchemaDetail& detail, const Value& value);
  void CheckLimit(const Limit& limit, std::string_view keyword, std::string_view exclusive_keyword,
                  std::string_view comparison, const Value& value);
  void CheckString(const SchemaNode& schema, const SchemaDetail& detail, const Value& value);

  void CheckArray(const ArrayRules& rules, const Value& value);
  void PutTupleDefaults(const ArrayRules& rules, const Value& value);
  void CheckItems(const ArrayRules& rules, std::uint32_t at);
  void CheckItem(SchemaId schema, std::uint32_t item, std::uint32_t index, std::string_view step);
  void CheckContains(const ArrayRules& rules, std::uint32_t at);
  void CheckUnique(const ArrayRules& rules, std::uint32_t at);

  void CheckObject(const ObjectRules& rules, const Value& value);
  void PutPropertyDefaults(const ObjectRules& rules, const Value& value);
  void CheckSize(const ObjectRules& rules, std::uint32_t at);
  void CheckRequired(const ObjectRules& rules, std::uint32_t at);
  void CheckDependencies(const ObjectRules& rules, std::uint32_t at);
  void CheckNames(const ObjectRules& rules, std::uint32_t at);
  void CheckAdditional(const ObjectRules& rules, std::uint32_t at);
  void CheckProperties(const ObjectRules& rules, std::uint32_t at);
  void CheckPatternProperties(const ObjectRules& rules, std::uint32_t at);
  void CheckMember(SchemaId schema, std::uint32_t key, std::string_view schema_step);
  bool IsAdditional(const ObjectRules& rules, std::uint32_t key);
  void TellMissing(std::string_view name, std::uint32_t at);
  // The value of a member as an index, or kNowhere.
  std::uint32_t FindMember(std::uint32_t object, std::string_view name) const;
  // Calls `visit` with the index of each key, in the order of JavaScript's for-in.
  template <class Visit>
  void ForEachKey(std::uint32_t object, const Visit& visit);

  void CheckRest(const RestRules& rules, const Value& value);
  void CheckValueSet(std::uint32_t set, std::string_view keyword, const Value& value);
  void CheckNot(const RestRules& rules, const Value& value);
  void CheckAnyOf(Range alternatives, const Value& value);
  void CheckOneOf(Range alternatives, const Value& value);
  void CheckCondition(const RestRules& rules, const Value& value);
  bool CheckAlternative(std::string_view keyword, const Alternative& alternative,
                        const Value& value);

  bool Matches(std::uint32_t pattern, std::string_view text);
  void Tell(std::string_view keyword, std::string_view schema_path_end, std::string_view params,
            std::string_view message, std::uint32_t at);
  void TellType(const SchemaDetail& detail, std::uint32_t at);
  void TellCount(std::string_view keyword, std::string_view kind, double limit, std::uint32_t at);
  void Stop(Exhaustion reason);
  std::string_view SchemaPath() const {
    return std::string_view(schema_path_).substr(schema_path_begin_);
  }

  ErrorList& errors_;
  ValueEquality& equality_;
  const Program* program_ = nullptr;
  EditableEvent* event_ = nullptr;
  bool defaults_ = false;
  bool composite_ = false;  // inside anyOf, oneOf, not, if, contains, propertyNames: no defaults
  bool stopped_ = false;
  Exhaustion reason_ = Exhaustion::kNone;
  std::uint32_t pattern_ = kNowhere;
  std::uint32_t depth_ = 0;
  std::uint64_t references_left_ = 0;
  std::string data_path_;
  std::string schema_path_;  // its end, from schema_path_begin_: a reference starts a new one
  std::size_t schema_path_begin_ = 0;
  std::string params_;
  std::string message_;
  std::vector<std::uint32_t> slots_;  // a stack of: property to its value in the object at hand
};

// Appends to a path while it lives.
class PathStep {
 public:
  PathStep(std::string& path, std::string_view a, std::string_view b = {}, std::string_view c = {})
      : path_(path), size_(path.size()) {
    path.append(a).append(b).append(c);
  }
  ~PathStep() { path_.resize(size_); }
  PathStep(const PathStep&) = delete;
  PathStep& operator=(const PathStep&) = delete;

 private:
  std::string& path_;
  std::size_t size_;
};

}  // namespace sluice::validate
