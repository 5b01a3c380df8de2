#include "validate/pattern_simple.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "validate/wtf8.h"

namespace sluice::validate {
namespace {

using Kind = PatternNode::Kind;

constexpr std::size_t kMaxItems = 64;
constexpr std::size_t kMaxClasses = 8;  // a bit each
constexpr int kMaxVisits = 1000;        // of nodes: nested counts of nothing multiply

// A class with a count, as the tree has it.
struct Item {
  CodePointSet set;
  std::uint32_t min;
  std::uint32_t max;
};

struct Flat {
  bool from_start = false;
  bool to_end = false;
  int visits = 0;
  std::vector<Item> items;
};

// Appends what `node` stands for to `flat`; false if it is no sequence of classes with counts.
bool Flatten(const PatternNode& node, Flat& flat) {
  if (flat.to_end || flat.items.size() > kMaxItems || ++flat.visits > kMaxVisits) return false;
  switch (node.kind) {
    case Kind::kEmpty:
      return true;
    case Kind::kSet:
      flat.items.push_back({node.set, 1, 1});
      return true;
    case Kind::kSequence:
      return std::all_of(node.children.begin(), node.children.end(),
                         [&](const PatternNode& child) { return Flatten(child, flat); });
    case Kind::kChoice:
      return node.children.size() == 1 && Flatten(node.children[0], flat);
    case Kind::kCapture:
      return Flatten(node.children[0], flat);
    case Kind::kRepeat: {
      const PatternNode& child = node.children[0];
      if (child.kind == Kind::kSet) {
        flat.items.push_back({child.set, node.min, node.max});
        return true;
      }
      if (node.min != node.max || node.min > kMaxItems) return false;
      for (std::uint32_t i = 0; i < node.min; ++i) {
        if (!Flatten(child, flat)) return false;
      }
      return true;
    }
    case Kind::kStart:
      if (!flat.items.empty()) return false;
      flat.from_start = true;
      return true;
    case Kind::kEnd:
      flat.to_end = true;
      return true;
    default:
      return false;
  }
}

bool IsCharacter(const Item& item) {
  const auto& ranges = item.set.ranges();
  return item.min == 1 && item.max == 1 && ranges.size() == 1 && ranges[0].first == ranges[0].last;
}

// Whether each item may take as much as it can, without ever having to give back: what follows
// cannot begin with a character of its class; or it takes without bound, and only one more optional
// class without bound follows, which would take whatever were given back.
bool IsGreedySafe(const std::vector<Item>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].min == items[i].max) continue;
    const bool absorbed = items[i].max == PatternNode::kUnbounded && i + 2 == items.size() &&
                          items[i + 1].min == 0 && items[i + 1].max == PatternNode::kUnbounded;
    if (absorbed) continue;
    for (std::size_t j = i + 1; j < items.size(); ++j) {
      if (items[i].set.Intersects(items[j].set)) return false;
      if (items[j].min > 0) break;
    }
  }
  return true;
}

class LiteralPattern final : public Pattern {
 public:
  LiteralPattern(std::string_view source, std::string literal)
      : Pattern(source), literal_(std::move(literal)) {}

  MatchResult Search(std::string_view text) const override {
    return text.find(literal_) != std::string_view::npos ? MatchResult::kMatch
                                                         : MatchResult::kNoMatch;
  }

 private:
  std::string literal_;
};

class SimplePattern final : public Pattern {
 public:
  explicit SimplePattern(std::string_view source) : Pattern(source) {}

  // False if the items need more classes than there are bits.
  bool Build(const Flat& flat);

  MatchResult Search(std::string_view text) const override {
    const char* at = text.data();
    const char* const end = at + text.size();
    for (const Step& step : steps_) {
      at = step.bit == 0 ? TakeLiteral(step, at, end) : TakeClass(step, at, end);
      if (at == nullptr) return MatchResult::kNoMatch;
    }
    return at == end || !to_end_ ? MatchResult::kMatch : MatchResult::kNoMatch;
  }

 private:
  // Which characters above U+007F a class has.
  enum class Beyond : std::uint8_t { kNone, kSome, kAll };

  // Literal text (bit 0: `min` bytes of literals_ from `max` on), or between `min` and `max`
  // characters of a class.
  struct Step {
    std::uint32_t min;
    std::uint32_t max;
    std::uint8_t bit;
    Beyond beyond;
  };

  const char* TakeLiteral(const Step& step, const char* at, const char* end) const {
    if (static_cast<std::size_t>(end - at) < step.min ||
        std::memcmp(at, literals_.data() + step.max, step.min) != 0) {
      return nullptr;
    }
    return at + step.min;
  }

  bool Has(std::uint8_t bit, char c) const {
    return (classes_[static_cast<unsigned char>(c)] & bit) != 0;
  }

  const char* TakeClass(const Step& step, const char* at, const char* end) const {
    if (step.beyond != Beyond::kNone) return TakeBeyondAscii(step, at, end);
    const auto left = static_cast<std::size_t>(end - at);
    if (left < step.min) return nullptr;
    const char* const least = at + step.min;
    const char* const most = left < step.max ? end : at + step.max;
    for (; at != least; ++at) {
      if (!Has(step.bit, *at)) return nullptr;
    }
    while (at != most && Has(step.bit, *at)) ++at;
    return at;
  }

  const char* TakeBeyondAscii(const Step& step, const char* at, const char* end) const {
    const CodePointSet& set = sets_[static_cast<std::size_t>(std::countr_zero(step.bit))];
    std::uint32_t count = 0;
    for (; count < step.max && at != end; ++count) {
      if ((*at & 0x80) == 0) {
        if (!Has(step.bit, *at)) break;
        ++at;
        continue;
      }
      const std::string_view rest(at, static_cast<std::size_t>(end - at));
      std::size_t length = 0;
      const char32_t c = NextCodePoint(rest, length);
      if (step.beyond == Beyond::kSome && !set.Contains(c)) break;
      at += length;
    }
    return count < step.min ? nullptr : at;
  }

  std::uint8_t BitOf(const CodePointSet& set);

  std::array<std::uint8_t, 256> classes_{};  // which classes an ASCII character is in
  std::vector<Step> steps_;
  std::string literals_;
  bool to_end_ = false;
  std::vector<CodePointSet> sets_;  // of the bits
};

std::uint8_t SimplePattern::BitOf(const CodePointSet& set) {
  const auto known = std::find(sets_.begin(), sets_.end(), set);
  const auto index = static_cast<std::size_t>(known - sets_.begin());
  if (known != sets_.end()) return static_cast<std::uint8_t>(1u << index);
  if (index == kMaxClasses) return 0;
  sets_.push_back(set);
  const auto bit = static_cast<std::uint8_t>(1u << index);
  for (char32_t c = 0; c < 0x80; ++c) {
    if (set.Contains(c)) classes_[c] |= bit;
  }
  return bit;
}

bool SimplePattern::Build(const Flat& flat) {
  to_end_ = flat.to_end;
  bool previous_literal = false;
  for (const Item& item : flat.items) {
    if (IsCharacter(item)) {
      const auto begin = static_cast<std::uint32_t>(literals_.size());
      AppendCodePoint(literals_, item.set.ranges()[0].first);
      if (!previous_literal) steps_.push_back({0, begin, 0, Beyond::kNone});
      steps_.back().min = static_cast<std::uint32_t>(literals_.size()) - steps_.back().max;
      previous_literal = true;
      continue;
    }
    previous_literal = false;
    const std::uint8_t bit = BitOf(item.set);
    if (bit == 0) return false;
    const Beyond beyond = item.set.ContainsAll(0x80, kMaxCodePoint)    ? Beyond::kAll
                          : item.set.ContainsNone(0x80, kMaxCodePoint) ? Beyond::kNone
                                                                       : Beyond::kSome;
    steps_.push_back({item.min, item.max, bit, beyond});
  }
  // Behind the last thing that must be there, an open end makes everything optional moot.
  if (!to_end_ && !steps_.empty() && steps_.back().bit != 0) steps_.back().max = steps_.back().min;
  return true;
}

}  // namespace

std::unique_ptr<const Pattern> MakeSimplePattern(std::string_view source, const PatternTree& tree) {
  Flat flat;
  if (!Flatten(tree.root, flat)) return nullptr;
  // {n,m} with n > m cannot be here; {0} takes nothing.
  std::erase_if(flat.items, [](const Item& item) { return item.max == 0; });
  if (!flat.from_start) {
    if (flat.to_end || !std::all_of(flat.items.begin(), flat.items.end(), IsCharacter)) {
      return nullptr;
    }
    std::string literal;
    for (const Item& item : flat.items) AppendCodePoint(literal, item.set.ranges()[0].first);
    return std::make_unique<LiteralPattern>(source, std::move(literal));
  }
  if (!IsGreedySafe(flat.items)) return nullptr;
  auto pattern = std::make_unique<SimplePattern>(source);
  if (!pattern->Build(flat)) return nullptr;
  return pattern;
}

}  // namespace sluice::validate
