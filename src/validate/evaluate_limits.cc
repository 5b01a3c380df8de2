#include "validate/evaluate_limits.h"

#include <cmath>

namespace sluice::validate {

std::string Describe(Exhaustion reason, const Program& program, std::uint32_t pattern) {
  switch (reason) {
    case Exhaustion::kNone:
      break;
    case Exhaustion::kDepth:
      return "the schema applies to itself more than " + std::to_string(kMaxDepth) +
             " levels deep: its $refs do not end";
    case Exhaustion::kReferences:
      return "the schema follows too many $refs for an event of this size";
    case Exhaustion::kPattern:
      return "the pattern \"" + program.patterns[pattern]->source() +
             "\" takes too long on this event";
  }
  return {};
}

// ajv divides and compares with parseInt of the quotient, which reads "1e+21" as 1.
bool IsMultipleOf(double value, double divisor) {
  const double quotient = value / divisor;
  return std::fabs(quotient) < 1e21 && std::trunc(quotient) == quotient;
}

std::size_t CountCodePoints(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

const Property* FindProperty(const Program& program, const ObjectRules& rules, std::uint32_t hash,
                             std::string_view key) {
  if (rules.table_mask == 0) return nullptr;
  const MemberSlot* table = program.slots.data() + rules.table;
  for (std::uint32_t slot = (hash >> rules.table_shift) & rules.table_mask;
       table[slot].property != kNowhere; slot = (slot + 1) & rules.table_mask) {
    if (table[slot].hash != hash) continue;
    const Property& property = program.properties[table[slot].property];
    if (program.Name(property) == key) return &property;
  }
  return nullptr;
}

}  // namespace sluice::validate
