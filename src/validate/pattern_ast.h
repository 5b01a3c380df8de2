#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "validate/code_point_set.h"

namespace sluice::validate {

// A node of a parsed regular expression. Which members mean something depends on the kind.
struct PatternNode {
  enum class Kind : std::uint8_t {
    kEmpty,            // matches nothing at all, everywhere
    kSet,              // one code point out of `set`
    kSequence,         // `children`, one after the other
    kChoice,           // one of `children`
    kRepeat,           // children[0], `min` to `max` times
    kCapture,          // children[0], remembered as `number`
    kStart,            // ^
    kEnd,              // $
    kWordBoundary,     // \b
    kNotWordBoundary,  // \B
    kLook,  // children[0] matches from here, or, `behind`, up to here; `negative`: does not
    kBackReference,  // the text of the capture `number`, nothing if it has none
  };
  static constexpr std::uint32_t kUnbounded = std::numeric_limits<std::uint32_t>::max();

  Kind kind = Kind::kEmpty;
  bool greedy = true;
  bool behind = false;
  bool negative = false;
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  std::uint32_t number = 0;
  CodePointSet set;
  std::vector<PatternNode> children;
};

// A parsed expression: what is to be matched, and how many captures it has.
struct PatternTree {
  PatternNode root;
  std::uint32_t captures = 0;
};

}  // namespace sluice::validate
