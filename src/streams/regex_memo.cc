#include "streams/regex_memo.h"

#include <utility>

namespace sluice::streams {

RegexMemo& RegexMemo::OfThisThread() {
  static thread_local RegexMemo memo;
  return memo;
}

void RegexMemo::Use(std::uint64_t id) {
  if (id_ == id) return;
  id_ = id;
  newer_.clear();
  older_.clear();
}

std::optional<const StreamSettings*> RegexMemo::Find(std::uint64_t id, std::string_view stream) {
  Use(id);
  if (const auto found = newer_.find(stream); found != newer_.end()) return found->second;
  const auto found = older_.find(stream);
  if (found == older_.end()) return std::nullopt;
  const StreamSettings* settings = found->second;
  Add(id, stream, settings);
  return settings;
}

void RegexMemo::Add(std::uint64_t id, std::string_view stream, const StreamSettings* found) {
  if (stream.size() > kMaxNameBytes) return;
  Use(id);
  if (newer_.size() >= kMaxNames / 2) {
    older_ = std::move(newer_);
    newer_ = Names();
  }
  newer_.emplace(stream, found);
}

}  // namespace sluice::streams
