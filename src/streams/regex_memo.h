#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "streams/stream_registry.h"

namespace sluice::streams {

// What one thread remembers of the names that it looked for among the regex entries of the current
// snapshot, found or not. Bounded, since clients choose the names: when the newer half is full, the
// older one is forgotten, so that names in use stay. Not thread-safe.
class RegexMemo {
 public:
  static constexpr std::size_t kMaxNames = 8192;
  static constexpr std::size_t kMaxNameBytes = 256;  // longer ones are not remembered

  static RegexMemo& OfThisThread();

  // What was added for `stream`, null if no regex matches; nothing if it is not known. An answer is
  // for the snapshot `id` only: the first call with another one forgets all.
  std::optional<const StreamSettings*> Find(std::uint64_t id, std::string_view stream);
  void Add(std::uint64_t id, std::string_view stream, const StreamSettings* found);

  std::size_t size() const { return newer_.size() + older_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Names = std::unordered_map<std::string, const StreamSettings*, Hash, std::equal_to<>>;

  void Use(std::uint64_t id);

  std::uint64_t id_ = 0;
  Names newer_;
  Names older_;
};

}  // namespace sluice::streams
