#include "validate/pattern_backtrack.h"

#include <utility>
#include <vector>

#include "validate/pattern_program.h"
#include "validate/wtf8.h"

namespace sluice::validate {
namespace {

using Op = PatternProgram::Op;
using Instruction = PatternProgram::Instruction;

constexpr std::size_t kMaxTrail = 256 << 10;  // entries
constexpr std::size_t kKeptTrail = 16 << 10;  // entries that a thread keeps between searches
constexpr std::size_t kUnset = static_cast<std::size_t>(-1);

bool IsWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// One search. What must be undone when a way turns out wrong lies on one stack, the trail: ways not
// tried yet, and old values of registers. Nothing recurses.
class Search {
 public:
  Search(const PatternProgram& program, std::string_view text)
      : program_(program), text_(text), trail_(Scratch().trail), registers_(Scratch().registers) {
    trail_.clear();
    registers_.assign(3 * (program.captures + 1) + 2 * program.loops.size() + 2 * program.looks,
                      kUnset);
  }
  ~Search() {
    if (trail_.capacity() > kKeptTrail) trail_ = {};
  }

  MatchResult Run() {
    for (std::size_t begin = 0;;) {
      const MatchResult result = RunAt(begin);
      if (result != MatchResult::kNoMatch || program_.only_at_start || begin == text_.size()) {
        return result;
      }
      NextCodePoint(text_, begin);
    }
  }

 private:
  struct Entry {
    enum class Kind : std::uint8_t { kWay, kRun, kLazyRun, kRegister };
    Kind kind;
    std::uint32_t index;  // kRegister: which; else: the instruction to go on at, or the kRun
    std::size_t at;       // kRegister: the old value; else the position
    std::size_t
        limit;  // kRun: the position of the shortest run; kLazyRun: how many more may be taken
  };
  struct Buffers {
    std::vector<Entry> trail;
    std::vector<std::size_t> registers;
  };
  static Buffers& Scratch() {
    thread_local Buffers buffers;
    return buffers;
  }

  std::size_t Begin(std::uint32_t capture) const { return 3 * std::size_t{capture}; }
  std::size_t End(std::uint32_t capture) const { return 3 * std::size_t{capture} + 1; }
  std::size_t Opened(std::uint32_t capture) const { return 3 * std::size_t{capture} + 2; }
  std::size_t Rounds(std::uint32_t loop) const {
    return 3 * (std::size_t{program_.captures} + 1) + 2 * std::size_t{loop};
  }
  std::size_t Height(std::uint32_t look) const {
    return 3 * (std::size_t{program_.captures} + 1) + 2 * program_.loops.size() +
           2 * std::size_t{look};
  }

  void Set(std::size_t index, std::size_t value) {
    trail_.push_back(
        {Entry::Kind::kRegister, static_cast<std::uint32_t>(index), registers_[index], 0});
    registers_[index] = value;
  }
  void PushWay(std::uint32_t pc) { trail_.push_back({Entry::Kind::kWay, pc, at_, 0}); }

  MatchResult RunAt(std::size_t begin) {
    at_ = begin;
    pc_ = 0;
    for (;;) {
      if (++steps_ > kMaxPatternSteps || trail_.size() > kMaxTrail) return MatchResult::kExhausted;
      const Instruction& i = program_.code[pc_];
      if (i.op == Op::kMatch) return MatchResult::kMatch;
      if (!Step(i) && !Backtrack()) return MatchResult::kNoMatch;
    }
  }

  bool Step(const Instruction& i);
  bool StepLoop(const Instruction& i);
  bool TakeOne(const Instruction& i);
  bool TakeRun(const Instruction& i);
  bool TakeReference(const Instruction& i);
  bool EndLook(const Instruction& i);
  bool Backtrack();
  bool IsBoundary() const {
    const bool before = at_ > 0 && IsWord(text_[at_ - 1]);
    const bool behind = at_ < text_.size() && IsWord(text_[at_]);
    return before != behind;
  }

  const PatternProgram& program_;
  std::string_view text_;
  std::vector<Entry>& trail_;
  std::vector<std::size_t>& registers_;
  std::size_t at_ = 0;
  std::uint32_t pc_ = 0;
  std::uint32_t steps_ = 0;
};

// Does one instruction; false: this way is wrong.
bool Search::Step(const Instruction& i) {
  switch (i.op) {
    case Op::kMatch:
      return true;
    case Op::kSet:
      ++pc_;
      return TakeOne(i);
    case Op::kRun:
      return TakeRun(i);
    case Op::kJump:
      pc_ = i.a;
      return true;
    case Op::kSplit:
      PushWay(i.b);
      pc_ = i.a;
      return true;
    case Op::kOpen:
      Set(Opened(i.a), at_);
      break;
    case Op::kClose: {
      const std::size_t opened = registers_[Opened(i.a)];
      Set(Begin(i.a), i.back ? at_ : opened);
      Set(End(i.a), i.back ? opened : at_);
      break;
    }
    case Op::kLoopEnter:
    case Op::kLoopHead:
    case Op::kLoopRound:
    case Op::kLoopNext:
      return StepLoop(i);
    case Op::kStart:
      ++pc_;
      return at_ == 0;
    case Op::kEnd:
      ++pc_;
      return at_ == text_.size();
    case Op::kWordBoundary:
      ++pc_;
      return IsBoundary();
    case Op::kNotWordBoundary:
      ++pc_;
      return !IsBoundary();
    case Op::kBackReference:
      ++pc_;
      return TakeReference(i);
    case Op::kLook:
      Set(Height(i.a), trail_.size() + 2);  // as high as it is behind these two
      Set(Height(i.a) + 1, at_);
      if (i.negative) PushWay(i.b);
      break;
    case Op::kLookEnd:
      return EndLook(i);
  }
  ++pc_;
  return true;
}

bool Search::StepLoop(const Instruction& i) {
  const std::size_t rounds = Rounds(i.a);
  const std::size_t round_begin = rounds + 1;
  switch (i.op) {
    case Op::kLoopEnter:
      Set(rounds, 0);
      break;
    case Op::kLoopHead:
      if (registers_[rounds] < i.min) break;
      if (registers_[rounds] >= i.max) {
        pc_ = i.b;
        return true;
      }
      if (!i.greedy) {
        PushWay(pc_ + 1);
        pc_ = i.b;
        return true;
      }
      PushWay(i.b);
      break;
    case Op::kLoopRound: {
      Set(rounds, registers_[rounds] + 1);
      Set(round_begin, at_);
      const PatternProgram::Loop& loop = program_.loops[i.a];
      for (std::uint32_t c = loop.first_capture; c < loop.last_capture; ++c) {
        if (registers_[End(c)] == kUnset) continue;
        Set(Begin(c), kUnset);
        Set(End(c), kUnset);
      }
      steps_ += loop.last_capture - loop.first_capture;
      break;
    }
    default:  // kLoopNext
      // A round beyond the minimum that took nothing leads nowhere.
      if (registers_[rounds] > i.min && registers_[round_begin] == at_) return false;
      pc_ = i.b;
      return true;
  }
  ++pc_;
  return true;
}

bool Search::TakeOne(const Instruction& i) {
  const PatternProgram::Set& set = program_.sets[i.a];
  if (i.back) return at_ > 0 && set.Contains(PreviousCodePoint(text_, at_));
  return at_ < text_.size() && set.Contains(NextCodePoint(text_, at_));
}

// A greedy run is one entry of the trail, from which later one character after the other is given
// back.
bool Search::TakeRun(const Instruction& i) {
  const std::uint32_t run = pc_++;
  std::uint32_t count = 0;
  const std::uint32_t wanted = i.greedy ? i.max : i.min;
  std::size_t shortest = at_;
  for (; count < wanted; ++count) {
    const std::size_t here = at_;
    if (count == i.min) shortest = here;
    if (!TakeOne(i)) {
      at_ = here;
      break;
    }
  }
  steps_ += count / 4;  // these are much cheaper than instructions
  if (count < i.min) return false;
  if (!i.greedy) {
    if (i.max > count) trail_.push_back({Entry::Kind::kLazyRun, run, at_, i.max - count});
  } else if (count > i.min) {
    trail_.push_back({Entry::Kind::kRun, run, at_, shortest});
  }
  return true;
}

bool Search::TakeReference(const Instruction& i) {
  if (registers_[End(i.a)] == kUnset) return true;  // nothing was captured: takes nothing
  const std::size_t begin = registers_[Begin(i.a)];
  const std::size_t length = registers_[End(i.a)] - begin;
  steps_ += static_cast<std::uint32_t>(length / 64);
  if (i.back ? at_ < length : text_.size() - at_ < length) return false;
  const std::size_t from = i.back ? at_ - length : at_;
  if (text_.compare(from, length, text_, begin, length) != 0) return false;
  at_ = i.back ? from : from + length;
  return true;
}

bool Search::EndLook(const Instruction& i) {
  const std::size_t height = registers_[Height(i.a)];
  if (i.negative) {
    // It is there, so the look-around fails: back to before it, with all registers as they were,
    // and past the way that would have gone on.
    while (trail_.size() > height) {
      if (trail_.back().kind == Entry::Kind::kRegister) {
        registers_[trail_.back().index] = trail_.back().at;
      }
      trail_.pop_back();
      ++steps_;
    }
    return false;
  }
  // It is there: its other ways are not tried any more, but what it captured must be undone if the
  // rest fails.
  std::size_t kept = height;
  for (std::size_t e = height; e < trail_.size(); ++e) {
    if (trail_[e].kind == Entry::Kind::kRegister) trail_[kept++] = trail_[e];
  }
  steps_ += static_cast<std::uint32_t>(trail_.size() - height);
  trail_.resize(kept);
  at_ = registers_[Height(i.a) + 1];
  ++pc_;
  return true;
}

// Goes back to the last way that was not tried; false: there is none.
bool Search::Backtrack() {
  while (!trail_.empty()) {
    Entry& entry = trail_.back();
    switch (entry.kind) {
      case Entry::Kind::kRegister:
        registers_[entry.index] = entry.at;
        trail_.pop_back();
        break;
      case Entry::Kind::kWay:
        at_ = entry.at;
        pc_ = entry.index;
        trail_.pop_back();
        return true;
      case Entry::Kind::kRun: {
        const Instruction& i = program_.code[entry.index];
        at_ = entry.at;
        if (i.back) {
          NextCodePoint(text_, at_);
        } else {
          PreviousCodePoint(text_, at_);
        }
        pc_ = entry.index + 1;
        entry.at = at_;
        if (at_ == entry.limit) trail_.pop_back();
        return true;
      }
      case Entry::Kind::kLazyRun: {
        at_ = entry.at;
        if (!TakeOne(program_.code[entry.index])) {
          trail_.pop_back();
          break;
        }
        pc_ = entry.index + 1;
        entry.at = at_;
        if (--entry.limit == 0) trail_.pop_back();
        return true;
      }
    }
    ++steps_;
  }
  return false;
}

class BacktrackPattern final : public Pattern {
 public:
  BacktrackPattern(std::string_view source, PatternProgram program)
      : Pattern(source), program_(std::move(program)) {}

  MatchResult Search(std::string_view text) const override {
    return validate::Search(program_, text).Run();
  }

 private:
  PatternProgram program_;
};

}  // namespace

std::unique_ptr<const Pattern> MakeBacktrackPattern(std::string_view source,
                                                    const PatternTree& tree) {
  return std::make_unique<BacktrackPattern>(source, CompileProgram(tree));
}

}  // namespace sluice::validate
