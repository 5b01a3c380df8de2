#include "daemon/liveness.h"

namespace sluice::daemon {

std::string Liveness::Stuck(Time now, std::chrono::milliseconds patience) const {
  std::string stuck;
  for (const auto& [name, last] : loops_) {
    const auto silent = now - last();
    if (silent <= patience) continue;
    if (!stuck.empty()) stuck += ", ";
    stuck += name + " (" +
             std::to_string(std::chrono::duration_cast<std::chrono::seconds>(silent).count()) +
             " s)";
  }
  return stuck;
}

}  // namespace sluice::daemon
