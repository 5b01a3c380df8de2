#include "core/kind_limiter.h"

namespace sluice::core {

KindLimiter::Verdict KindLimiter::Admit(std::string_view kind, std::int64_t second) {
  auto found = kinds_.find(kind);
  if (found == kinds_.end()) found = kinds_.emplace(std::string(kind), Kind{}).first;
  Kind& state = found->second;
  if (state.second != second) {
    state.second = second;
    state.written = 0;
  }
  if (state.written >= per_second_) {
    ++state.suppressed;
    return {};
  }
  ++state.written;
  const Verdict verdict{true, state.suppressed};
  state.suppressed = 0;
  return verdict;
}

}  // namespace sluice::core
