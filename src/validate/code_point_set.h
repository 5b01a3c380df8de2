#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

namespace sluice::validate {

// A set of code points, surrogates included, as sorted ranges that neither overlap nor touch.
class CodePointSet {
 public:
  struct Range {
    char32_t first;
    char32_t last;
    friend bool operator==(const Range&, const Range&) = default;
  };

  CodePointSet() = default;
  CodePointSet(std::initializer_list<Range> ranges);
  // Ranges in any order, which may overlap.
  explicit CodePointSet(std::vector<Range> ranges);

  void Add(char32_t first, char32_t last);
  void Add(const CodePointSet& other);
  CodePointSet Complement() const;

  bool Contains(char32_t c) const;
  // Whether every code point from `first` to `last` is in the set, and whether none is.
  bool ContainsAll(char32_t first, char32_t last) const;
  bool ContainsNone(char32_t first, char32_t last) const;
  bool empty() const { return ranges_.empty(); }
  bool Intersects(const CodePointSet& other) const;
  // Whether all members lie from `first` to `last`; also of an empty set.
  bool Within(char32_t first, char32_t last) const;

  const std::vector<Range>& ranges() const { return ranges_; }
  friend bool operator==(const CodePointSet&, const CodePointSet&) = default;

 private:
  std::vector<Range> ranges_;
};

}  // namespace sluice::validate
