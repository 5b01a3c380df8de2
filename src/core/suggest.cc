#include "core/suggest.h"

#include <algorithm>
#include <vector>

namespace sluice::core {
namespace {

std::string_view LastPart(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// More changes than this and the word is another one.
std::size_t Tolerance(std::string_view word) { return std::max<std::size_t>(1, word.size() / 4); }

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view Nearest(std::string_view typed, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (const std::string_view word : words) {
    const std::size_t whole = EditDistance(typed, word);
    if (whole <= Tolerance(word) && whole < best_distance) {
      best = word;
      best_distance = whole;
    }
    // One more than a match of the whole name, so that the whole name wins.
    const std::string_view part = LastPart(word);
    if (part.size() == word.size() && LastPart(typed).size() == typed.size()) continue;
    const std::size_t in_part = EditDistance(LastPart(typed), part);
    if (part.size() > 3 && in_part <= Tolerance(part) && in_part + 1 < best_distance) {
      best = word;
      best_distance = in_part + 1;
    }
  }
  return best;
}

}  // namespace sluice::core
