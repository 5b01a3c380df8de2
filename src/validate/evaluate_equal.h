#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "validate/document.h"
#include "validate/program.h"

namespace sluice::validate {

// Equality of JSON values as the original's fast-deep-equal has it: numbers as doubles, objects
// without regard to order. Keeps its scratch between calls, so that it does not allocate once warm;
// not thread-safe. Time grows with size times its logarithm, whatever the values are.
class ValueEquality {
 public:
  ValueEquality();

  bool Equal(const Document& a_document, const Node* a, const Document& b_document, const Node* b);

  // Whether the set of a schema holds the value.
  bool Contains(const Program& program, const ValueSet& set, const Document& document,
                const Node* value);

  // Whether two elements of the array are equal.
  bool HasDuplicates(const Document& document, const Node* array);

  // The pair (i, j) that ajv tells for an array with duplicates. kAnyItems: the last element that
  // has an equal before it, and the nearest such one. kScalarItems: elements of `types` only; the
  // last element that has an equal behind it, and the nearest such one.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> DuplicatePair(const Document& document,
                                                                       const Node* array,
                                                                       Unique unique,
                                                                       TypeMask types);

 private:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t index;
    const Node* node;
  };
  struct Member {
    std::uint32_t hash;
    std::string_view name;
    const Node* value;
    bool operator<(const Member& other) const {
      return hash != other.hash ? hash < other.hash : name < other.name;
    }
  };
  bool EqualObjects(const Document& a_document, const Node* a, const Document& b_document,
                    const Node* b);
  bool EqualLargeObjects(const Document& a_document, const Node* a, const Document& b_document,
                         const Node* b);
  void PushMembers(const Document& document, const Node* object);
  std::uint64_t Hash(const Document& document, const Node* value) const;
  std::uint64_t HashText(std::string_view text) const;
  void SortByHash(const Document& document, const Node* array, TypeMask types);

  std::uint64_t seed_;  // of this process, so that nobody can choose values that collide
  std::vector<Entry> entries_;
  std::vector<Member> members_;
};

// Whether a number is of `integer`: no fraction; infinity is one, as in JavaScript's x % 1.
bool IsIntegral(double value);

}  // namespace sluice::validate
