#include "validate/pattern_parser.h"

#include <utility>

#include "validate/wtf8.h"

namespace sluice::validate {
namespace {

using Kind = PatternNode::Kind;

constexpr std::size_t kMaxDepth = 250;  // of groups in a tree: later passes recurse

bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }

const CodePointSet& Dot() {
  static const CodePointSet kDot =
      CodePointSet{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}.Complement();
  return kDot;
}

// The characters above U+FFFF whose first half is in `high` and second half in `low`.
CodePointSet Pairs(const CodePointSet& high, const CodePointSet& low) {
  std::vector<CodePointSet::Range> ranges;
  for (const auto& h : high.ranges()) {
    for (char32_t lead = h.first; lead <= h.last; ++lead) {
      const char32_t base = 0x10000 + ((lead - 0xD800) << 10);
      for (const auto& l : low.ranges()) {
        ranges.push_back({base + (l.first - 0xDC00), base + (l.last - 0xDC00)});
      }
    }
  }
  return CodePointSet(std::move(ranges));
}

// Expressions written for code units spell a character above U+FFFF as two classes of surrogates.
// In a text of code points such a pair is one character, so the two classes become one.
void JoinSurrogates(std::vector<PatternNode>& sequence) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (kept > 0 && sequence[i].kind == Kind::kSet && sequence[kept - 1].kind == Kind::kSet &&
        !sequence[i].set.empty() && !sequence[kept - 1].set.empty() &&
        sequence[kept - 1].set.Within(0xD800, 0xDBFF) && sequence[i].set.Within(0xDC00, 0xDFFF)) {
      sequence[kept - 1].set = Pairs(sequence[kept - 1].set, sequence[i].set);
    } else {
      if (kept != i) sequence[kept] = std::move(sequence[i]);
      ++kept;
    }
  }
  sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(kept), sequence.end());
}

}  // namespace

bool PatternParser::Parse() {
  CountCaptures();
  if (captures_ >= kMaxCaptures) return Fail("too many captures");
  groups_.emplace_back();
  while (at_ < text_.size()) {
    if (!ParseTerm()) return false;
  }
  if (groups_.size() > 1) return Fail("unterminated group", groups_.back().at);
  if (!ResolveNames()) return false;
  if (build_) {
    CloseChoice(groups_.back());
    tree_.captures = captures_;
    tree_.root.kind = Kind::kChoice;
    tree_.root.children = std::move(groups_.back().choices);
    if (!named_references_.empty()) SetNumbers(tree_.root);
  }
  return true;
}

// A back-reference is told from an octal escape by how many captures the whole expression has, so
// they are counted before anything else. Approximate where the expression is an error anyway.
void PatternParser::CountCaptures() {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\\') {
      ++i;
    } else if (text_[i] == '[') {
      while (++i < text_.size() && text_[i] != ']') {
        if (text_[i] == '\\') ++i;
      }
    } else if (text_[i] == '(') {
      const auto next = [&](std::size_t n) {
        return i + n < text_.size() ? text_[i + n] : kEndMarker;
      };
      if (next(1) != '?') {
        ++captures_;
      } else if (next(2) == '<' && next(3) != '=' && next(3) != '!') {
        ++captures_;
        has_names_ = true;
      }
    }
  }
}

bool PatternParser::ParseTerm() {
  const char32_t c = Peek();
  switch (c) {
    case '|':
      ++at_;
      CloseChoice(groups_.back());
      return true;
    case '(':
      return OpenGroup();
    case ')': {
      if (groups_.size() == 1) return Fail("unmatched ')'");
      const GroupKind kind = groups_.back().kind;
      const bool quantifiable =
          kind != GroupKind::kLookBehind && !(strict_ && kind == GroupKind::kLookAhead);
      ++at_;
      if (!CloseGroup()) return false;
      return !quantifiable || ParseQuantifier();
    }
    case '^':
    case '$':
      ++at_;
      PushKind(c == '^' ? Kind::kStart : Kind::kEnd);
      return true;
    case '*':
    case '+':
    case '?':
      return Fail("nothing to repeat");
    case '.':
      ++at_;
      PushSet(Dot());
      return ParseQuantifier();
    case '[':
      return ParseClass() && ParseQuantifier();
    case '\\':
      if (Peek(1) == 'b' || Peek(1) == 'B') {
        PushKind(Peek(1) == 'b' ? Kind::kWordBoundary : Kind::kNotWordBoundary);
        at_ += 2;
        return true;
      }
      return ParseEscape() && ParseQuantifier();
    case '{': {
      const std::size_t begin = at_;
      if (ParseInterval()) return Fail("nothing to repeat", begin);
      if (strict_) return Fail("lone quantifier bracket", begin);
      break;  // a brace that begins no quantifier is a character
    }
    case '}':
    case ']':
      if (strict_) return Fail("lone bracket");
      break;
    default:
      break;
  }
  ++at_;
  PushCharacter(c);
  return ParseQuantifier();
}

bool PatternParser::OpenGroup() {
  Group group;
  group.at = at_++;
  if (!TakeIf('?')) {
    group.kind = GroupKind::kCapture;
  } else if (TakeIf(':')) {
    group.kind = GroupKind::kPlain;
  } else if (Peek() == '=' || Peek() == '!') {
    group.kind = GroupKind::kLookAhead;
    group.negative = Peek() == '!';
    ++at_;
  } else if (Peek() == '<' && (Peek(1) == '=' || Peek(1) == '!')) {
    group.kind = GroupKind::kLookBehind;
    group.negative = Peek(1) == '!';
    at_ += 2;
  } else if (TakeIf('<')) {
    group.kind = GroupKind::kCapture;
    const auto name = ParseGroupName();
    if (!name) return Fail("invalid capture group name", group.at);
    if (!names_.emplace(*name, captures_opened_ + 1).second) {
      return Fail("duplicate capture group name", group.at);
    }
  } else {
    return Fail("invalid group", group.at);
  }
  if (group.kind == GroupKind::kCapture) group.number = ++captures_opened_;
  if (build_ && groups_.size() > kMaxDepth) return Fail("groups are nested too deeply", group.at);
  groups_.push_back(std::move(group));
  return true;
}

bool PatternParser::CloseGroup() {
  CloseChoice(groups_.back());
  Group group = std::move(groups_.back());
  groups_.pop_back();
  if (!build_) return true;
  PatternNode choice;
  if (group.choices.size() == 1) {
    choice = std::move(group.choices.front());
  } else {
    choice.kind = Kind::kChoice;
    choice.children = std::move(group.choices);
  }
  if (group.kind == GroupKind::kPlain) {
    Push(std::move(choice));
    return true;
  }
  PatternNode node;
  node.kind = group.kind == GroupKind::kCapture ? Kind::kCapture : Kind::kLook;
  node.number = group.number;
  node.behind = group.kind == GroupKind::kLookBehind;
  node.negative = group.negative;
  node.children.push_back(std::move(choice));
  Push(std::move(node));
  return true;
}

void PatternParser::CloseChoice(Group& group) {
  if (!build_) return;
  JoinSurrogates(group.sequence);
  PatternNode node;
  if (group.sequence.size() == 1) {
    node = std::move(group.sequence.front());
  } else if (!group.sequence.empty()) {
    node.kind = Kind::kSequence;
    node.children = std::move(group.sequence);
  }
  group.sequence.clear();
  group.choices.push_back(std::move(node));
}

bool PatternParser::ParseQuantifier() {
  Interval interval{};
  const std::size_t begin = at_;
  switch (Peek()) {
    case '*':
      interval = {0, PatternNode::kUnbounded};
      ++at_;
      break;
    case '+':
      interval = {1, PatternNode::kUnbounded};
      ++at_;
      break;
    case '?':
      interval = {0, 1};
      ++at_;
      break;
    case '{': {
      const auto parsed = ParseInterval();
      if (!parsed) return true;  // the brace is a character then, or an error
      if (parsed->min > parsed->max) {
        return Fail("numbers out of order in quantifier", begin);
      }
      interval = *parsed;
      break;
    }
    default:
      return true;
  }
  const bool lazy = TakeIf('?');
  if (!build_) return true;
  PatternNode node;
  node.kind = Kind::kRepeat;
  node.greedy = !lazy;
  node.min = interval.min;
  node.max = interval.max;
  node.children.push_back(std::move(groups_.back().sequence.back()));
  groups_.back().sequence.back() = std::move(node);
  return true;
}

// {n}, {n,} or {n,m}. Anything else is no quantifier: nothing is consumed then.
std::optional<PatternParser::Interval> PatternParser::ParseInterval() {
  const std::size_t begin = at_;
  // Numbers beyond what a text can be long mean the same as no bound, as in V8.
  const auto number = [&]() -> std::optional<std::uint32_t> {
    if (!IsDigit(Peek())) return std::nullopt;
    std::uint64_t value = 0;
    for (; IsDigit(Peek()); ++at_) {
      value = value * 10 + (Peek() - '0');
      if (value >= 0x7FFFFFFF) value = PatternNode::kUnbounded;
    }
    return static_cast<std::uint32_t>(value);
  };
  ++at_;  // the brace
  Interval interval{};
  const auto min = number();
  if (min) {
    interval = {*min, *min};
    if (TakeIf(',')) {
      interval.max = PatternNode::kUnbounded;
      if (IsDigit(Peek())) interval.max = *number();
    }
    if (TakeIf('}')) return interval;
  }
  at_ = begin;
  return std::nullopt;
}

bool PatternParser::ResolveNames() {
  for (const NamedReference& r : named_references_) {
    if (!names_.contains(r.name)) return Fail("reference to an unknown group name", r.at);
  }
  return true;
}

bool PatternParser::IsInsideCapture(std::uint32_t number) const {
  for (const Group& g : groups_) {
    if (g.kind == GroupKind::kCapture && g.number == number) return true;
  }
  return false;
}

void PatternParser::SetNumbers(PatternNode& node) const {
  if (node.kind == Kind::kBackReference && node.number >= kFirstPlaceholder) {
    node.number = names_.at(named_references_[node.number - kFirstPlaceholder].name);
  }
  for (PatternNode& child : node.children) SetNumbers(child);
}

bool PatternParser::TakeIf(char32_t c) {
  if (Peek() != c) return false;
  ++at_;
  return true;
}

bool PatternParser::Fail(std::string_view what, std::size_t at) {
  error_ = what;
  error_at_ = at;
  return false;
}

void PatternParser::Push(PatternNode node) {
  if (build_) groups_.back().sequence.push_back(std::move(node));
}

void PatternParser::PushSet(CodePointSet set) {
  if (!build_) return;
  PatternNode node;
  node.kind = Kind::kSet;
  node.set = std::move(set);
  Push(std::move(node));
}

void PatternParser::PushCharacter(char32_t c) {
  if (build_) PushSet({{c, c}});
}

void PatternParser::PushKind(Kind kind) {
  if (!build_) return;
  PatternNode node;
  node.kind = kind;
  Push(std::move(node));
}

}  // namespace sluice::validate
