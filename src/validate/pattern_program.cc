#include "validate/pattern_program.h"

#include <algorithm>
#include <utility>

namespace sluice::validate {
namespace {

using Kind = PatternNode::Kind;
using Op = PatternProgram::Op;
using Instruction = PatternProgram::Instruction;

// Whether every match of `node` begins at the beginning of the text.
bool OnlyAtStart(const PatternNode& node) {
  switch (node.kind) {
    case Kind::kStart:
      return true;
    case Kind::kSequence:
      for (const PatternNode& child : node.children) {
        if (OnlyAtStart(child)) return true;
        // Behind look-around the position is still the first one.
        if (child.kind != Kind::kLook) return false;
      }
      return false;
    case Kind::kChoice:
      return std::all_of(node.children.begin(), node.children.end(), OnlyAtStart);
    case Kind::kCapture:
      return OnlyAtStart(node.children[0]);
    case Kind::kRepeat:
      return node.min > 0 && OnlyAtStart(node.children[0]);
    default:
      return false;
  }
}

// The captures inside `node`, as first and one behind the last; numbers inside a node are
// contiguous.
void CapturesInside(const PatternNode& node, PatternProgram::Loop& loop) {
  if (node.kind == Kind::kCapture) {
    if (loop.first_capture == loop.last_capture) loop.first_capture = node.number;
    loop.last_capture = node.number + 1;
  }
  for (const PatternNode& child : node.children) CapturesInside(child, loop);
}

class Compiler {
 public:
  explicit Compiler(PatternProgram& program) : program_(program) {}

  void Compile(const PatternNode& node, bool back) {
    switch (node.kind) {
      case Kind::kEmpty:
        break;
      case Kind::kSet:
        Emit(Op::kSet, back).a = AddSet(node.set);
        break;
      case Kind::kSequence:
        if (back) {
          for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
            Compile(*child, back);
          }
        } else {
          for (const PatternNode& child : node.children) Compile(child, back);
        }
        break;
      case Kind::kChoice:
        CompileChoice(node, back);
        break;
      case Kind::kRepeat:
        CompileRepeat(node, back);
        break;
      case Kind::kCapture:
        Emit(Op::kOpen, back).a = node.number;
        Compile(node.children[0], back);
        Emit(Op::kClose, back).a = node.number;
        break;
      case Kind::kStart:
        Emit(Op::kStart, back);
        break;
      case Kind::kEnd:
        Emit(Op::kEnd, back);
        break;
      case Kind::kWordBoundary:
        Emit(Op::kWordBoundary, back);
        break;
      case Kind::kNotWordBoundary:
        Emit(Op::kNotWordBoundary, back);
        break;
      case Kind::kBackReference:
        Emit(Op::kBackReference, back).a = node.number;
        break;
      case Kind::kLook:
        CompileLook(node);
        break;
    }
  }

  Instruction& Emit(Op op, bool back) {
    Instruction instruction{};
    instruction.op = op;
    instruction.back = back;
    program_.code.push_back(instruction);
    return program_.code.back();
  }

 private:
  std::uint32_t Here() const { return static_cast<std::uint32_t>(program_.code.size()); }

  void CompileChoice(const PatternNode& node, bool back) {
    std::vector<std::uint32_t> jumps;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (i + 1 == node.children.size()) {
        Compile(node.children[i], back);
        break;
      }
      const std::uint32_t split = Here();
      Emit(Op::kSplit, back).a = split + 1;
      Compile(node.children[i], back);
      jumps.push_back(Here());
      Emit(Op::kJump, back);
      program_.code[split].b = Here();
    }
    for (const std::uint32_t jump : jumps) program_.code[jump].a = Here();
  }

  void CompileRepeat(const PatternNode& node, bool back) {
    if (node.max == 0) return;
    const PatternNode& child = node.children[0];
    const auto count = [&node](Instruction& instruction) {
      instruction.min = node.min;
      instruction.max = node.max;
      instruction.greedy = node.greedy;
    };
    if (child.kind == Kind::kSet) {
      Instruction& run = Emit(Op::kRun, back);
      count(run);
      run.a = AddSet(child.set);
      return;
    }
    PatternProgram::Loop loop;
    CapturesInside(child, loop);
    const auto index = static_cast<std::uint32_t>(program_.loops.size());
    program_.loops.push_back(loop);
    Emit(Op::kLoopEnter, back).a = index;
    const std::uint32_t head = Here();
    Instruction& head_instruction = Emit(Op::kLoopHead, back);
    count(head_instruction);
    head_instruction.a = index;
    Emit(Op::kLoopRound, back).a = index;
    Compile(child, back);
    Instruction& next = Emit(Op::kLoopNext, back);
    next.a = index;
    next.b = head;
    next.min = node.min;
    program_.code[head].b = Here();
  }

  void CompileLook(const PatternNode& node) {
    const std::uint32_t index = program_.looks++;
    const std::uint32_t look = Here();
    Instruction& begin = Emit(Op::kLook, node.behind);
    begin.a = index;
    begin.negative = node.negative;
    Compile(node.children[0], node.behind);
    Instruction& end = Emit(Op::kLookEnd, node.behind);
    end.a = index;
    end.negative = node.negative;
    program_.code[look].b = Here();
  }

  std::uint32_t AddSet(const CodePointSet& set) {
    PatternProgram::Set added;
    for (char32_t c = 0; c < 128; ++c) {
      if (set.Contains(c)) added.ascii[c >> 6] |= std::uint64_t{1} << (c & 63);
    }
    added.points = set;
    program_.sets.push_back(std::move(added));
    return static_cast<std::uint32_t>(program_.sets.size() - 1);
  }

  PatternProgram& program_;
};

}  // namespace

PatternProgram CompileProgram(const PatternTree& tree) {
  PatternProgram program;
  program.captures = tree.captures;
  program.only_at_start = OnlyAtStart(tree.root);
  Compiler compiler(program);
  compiler.Compile(tree.root, false);
  compiler.Emit(Op::kMatch, false);
  return program;
}

}  // namespace sluice::validate
