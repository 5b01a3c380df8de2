#pragma once

#include <cstdint>
#include <vector>

#include "validate/pattern_ast.h"

namespace sluice::validate {

// An expression as instructions for the bounded backtracking matcher. Its size is linear in the
// expression's: counts are counted at run time.
struct PatternProgram {
  enum class Op : std::uint8_t {
    kMatch,      // the end
    kSet,        // takes one character out of sets[a]
    kRun,        // takes min to max characters out of sets[a]
    kJump,       // to a
    kSplit,      // goes on at a, or else at b
    kOpen,       // notes where the capture `a` begins
    kClose,      // sets the capture `a`
    kLoopEnter,  // loop a: no round so far
    kLoopHead,   // loop a: a round (the next instruction), or b, as min, max and greedy say
    kLoopRound,  // loop a: a round begins; forgets its captures
    kLoopNext,   // loop a: a round has ended; to its head, at b
    kStart,
    kEnd,
    kWordBoundary,
    kNotWordBoundary,
    kBackReference,  // takes the text of the capture a
    kLook,     // look-around a: what it looks for is next, up to kLookEnd; negative: b when that is
               // not there
    kLookEnd,  // of look-around a
  };
  struct Instruction {
    Op op;
    bool greedy = true;
    bool back = false;  // takes what stands before the position, not behind it
    bool negative = false;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t min = 0;
    std::uint32_t max = 0;
  };
  // A class: the first 128 characters as bits.
  struct Set {
    std::uint64_t ascii[2] = {0, 0};
    CodePointSet points;
    bool Contains(char32_t c) const {
      return c < 128 ? (ascii[c >> 6] >> (c & 63) & 1) != 0 : points.Contains(c);
    }
  };
  struct Loop {
    std::uint32_t first_capture = 0;  // the captures inside: from here
    std::uint32_t last_capture = 0;   // up to before here
  };

  std::vector<Instruction> code;
  std::vector<Set> sets;
  std::vector<Loop> loops;
  std::uint32_t captures = 0;
  std::uint32_t looks = 0;
  bool only_at_start = false;  // can match at the beginning of a text only
};

PatternProgram CompileProgram(const PatternTree& tree);

}  // namespace sluice::validate
