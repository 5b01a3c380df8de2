#pragma once

#include <cstdint>
#include <string>

#include "validate/program.h"
#include "validate/validator.h"

// Bounds that both passes keep, so that no schema and no event can take the stack or the time.
namespace sluice::validate {

enum class Exhaustion : std::uint8_t { kNone, kDepth, kReferences, kPattern };

// Schemas within schemas on the way to one value, references included. An event of 1,000 levels
// under a recursive schema of three steps a level stays below it, and a thread's usual stack is
// enough for it in a build with sanitizers too.
inline constexpr std::uint32_t kMaxDepth = 4000;

// How many $refs may be followed for an event of so many nodes.
inline constexpr std::uint64_t MaxReferences(std::uint32_t nodes) {
  return 1'000'000 + 64 * static_cast<std::uint64_t>(nodes);
}

// What a person is told. `pattern` is for kPattern.
std::string Describe(Exhaustion reason, const Program& program, std::uint32_t pattern);

// Numbers: the rules of one schema, as ajv has them.
bool IsMultipleOf(double value, double divisor);

// Code points of UTF-8 or WTF-8 text.
std::size_t CountCodePoints(std::string_view text);

// The property with that key, or null. `hash` is HashKey's.
const Property* FindProperty(const Program& program, const ObjectRules& rules, std::uint32_t hash,
                             std::string_view key);

}  // namespace sluice::validate
