#pragma once

#include <cstdint>
#include <string_view>

#include "validate/document.h"
#include "validate/evaluate_equal.h"
#include "validate/evaluate_limits.h"
#include "validate/program.h"

namespace sluice::validate {

// The first pass over an event: is it valid? Stops at the first thing that is not; allocates
// nothing once its scratch is warm. One use per event.
class FastPass {
 public:
  enum class Outcome { kValid, kInvalid, kExhausted, kNeedsDefaults };

  FastPass(const Program& program, const Document& document, ValueEquality& equality)
      : schemas_(program.schemas.data()),
        slots_(program.slots.data()),
        pool_(program.pool.data()),
        body_(document.body.data()),
        body_size_(document.body.size()),
        program_(program),
        document_(document),
        equality_(equality) {}

  // kNeedsDefaults if `defaults` and somewhere a default has to be put in first: the second pass
  // does that. kExhausted: reason() says of what.
  Outcome Run(const Node* root, UseDefaults defaults);
  Exhaustion reason() const { return reason_; }
  std::uint32_t pattern() const { return pattern_; }

 private:
  bool Check(SchemaId id, const Node* value);
  bool CheckGroups(const SchemaNode& schema, const Node* value);
  bool CheckSpecial(const SchemaNode& schema, const Node* value);
  bool CheckNumber(const SchemaNode& schema, const Node* value) const;
  bool CheckString(const SchemaNode& schema, const Node* text);
  bool CheckArray(const ArrayRules& rules, const Node* array);
  bool CheckContains(const ArrayRules& rules, const Node* array);
  bool CheckObject(const ObjectRules& rules, const Node* object);
  bool CheckMembers(const ObjectRules& rules, const Node* object);
  bool CheckOtherRules(const ObjectRules& rules, const Node* object);
  bool CheckAdditional(const ObjectRules& rules, const Node* key);
  bool CheckPatterns(const ObjectRules& rules, const Node* object);
  bool CheckRest(const RestRules& rules, const Node* value);
  bool CheckOneOf(Range alternatives, const Node* value);
  bool Matches(std::uint32_t pattern, std::string_view text);
  const MemberSlot* Lookup(const ObjectRules& rules, const Node* key) const;
  bool IsNamed(const MemberSlot& slot, const Node* key) const;
  std::string_view String(const Node* text) const;
  bool Stop(Exhaustion reason);
  bool stopped() const { return stopped_; }

  // Of the program and the document, for the hot path.
  const SchemaNode* schemas_;
  const MemberSlot* slots_;
  const char* pool_;
  const char* body_;
  std::size_t body_size_;

  const Program& program_;
  const Document& document_;
  ValueEquality& equality_;
  bool defaults_ = false;
  bool needs_defaults_ = false;
  bool stopped_ = false;  // nothing that follows counts
  Exhaustion reason_ = Exhaustion::kNone;
  std::uint32_t pattern_ = kNowhere;
  std::uint32_t depth_ = 0;
  std::uint64_t references_left_ = 0;
};

}  // namespace sluice::validate
