#include "validate/code_point_set.h"

#include <algorithm>

#include "validate/wtf8.h"

namespace sluice::validate {

CodePointSet::CodePointSet(std::initializer_list<Range> ranges)
    : CodePointSet(std::vector<Range>(ranges)) {}

CodePointSet::CodePointSet(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
  if (ranges_.empty()) return;
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < ranges_.size(); ++i) {
    if (ranges_[i].first <= ranges_[kept].last || ranges_[i].first - ranges_[kept].last == 1) {
      ranges_[kept].last = std::max(ranges_[kept].last, ranges_[i].last);
    } else {
      ranges_[++kept] = ranges_[i];
    }
  }
  ranges_.resize(kept + 1);
}

void CodePointSet::Add(char32_t first, char32_t last) {
  // The ranges that overlap or touch the new one lie together: they become one.
  auto begin = std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& r) {
    return r.last < first && first - r.last > 1;
  });
  auto end = begin;
  while (end != ranges_.end() && (end->first <= last || end->first - last == 1)) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
    ++end;
  }
  if (begin == end) {
    ranges_.insert(begin, {first, last});
  } else {
    *begin = {first, last};
    ranges_.erase(begin + 1, end);
  }
}

void CodePointSet::Add(const CodePointSet& other) {
  for (const Range& r : other.ranges_) Add(r.first, r.last);
}

CodePointSet CodePointSet::Complement() const {
  CodePointSet result;
  char32_t next = 0;
  for (const Range& r : ranges_) {
    if (r.first > next) result.ranges_.push_back({next, r.first - 1});
    next = r.last + 1;
  }
  if (next <= kMaxCodePoint) result.ranges_.push_back({next, kMaxCodePoint});
  return result;
}

namespace {

// The first range that ends at or behind `c`.
auto RangeAt(const std::vector<CodePointSet::Range>& ranges, char32_t c) {
  return std::partition_point(ranges.begin(), ranges.end(),
                              [c](const CodePointSet::Range& r) { return r.last < c; });
}

}  // namespace

bool CodePointSet::Contains(char32_t c) const { return ContainsAll(c, c); }

bool CodePointSet::ContainsAll(char32_t first, char32_t last) const {
  const auto r = RangeAt(ranges_, first);
  return r != ranges_.end() && r->first <= first && last <= r->last;
}

bool CodePointSet::ContainsNone(char32_t first, char32_t last) const {
  const auto r = RangeAt(ranges_, first);
  return r == ranges_.end() || r->first > last;
}

bool CodePointSet::Intersects(const CodePointSet& other) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& r) { return !other.ContainsNone(r.first, r.last); });
}

bool CodePointSet::Within(char32_t first, char32_t last) const {
  return ranges_.empty() || (ranges_.front().first >= first && ranges_.back().last <= last);
}

}  // namespace sluice::validate
