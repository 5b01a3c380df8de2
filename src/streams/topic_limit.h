#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

namespace sluice::streams {

// Counts the topics whose names come from clients (of regex entries, or where streams are not
// configured), so that these cannot make topics without end. Any thread; takes a lock.
class TopicLimit {
 public:
  // Whether `topic` may be opened: it was admitted before, or fewer than `max` were.
  bool Admit(std::string_view topic, std::size_t max);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::mutex mutex_;
  std::unordered_set<std::string, Hash, std::equal_to<>> topics_;
};

}  // namespace sluice::streams
