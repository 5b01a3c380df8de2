#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sluice::core {

// Lets through at most so many lines of each kind in each second, and counts the rest. Not
// thread-safe.
class KindLimiter {
 public:
  explicit KindLimiter(int per_second) : per_second_(per_second) {}

  struct Verdict {
    bool write = false;
    std::uint64_t suppressed = 0;  // of this kind since the last line that was written
  };
  // `second` is any clock's, never going back.
  Verdict Admit(std::string_view kind, std::int64_t second);

 private:
  struct Kind {
    std::int64_t second = -1;
    int written = 0;
    std::uint64_t suppressed = 0;
  };
  int per_second_;
  std::map<std::string, Kind, std::less<>> kinds_;
};

}  // namespace sluice::core
