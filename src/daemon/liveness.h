#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::daemon {

// The loops without which the process does no work, and whether each still comes round. One thread.
class Liveness {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `last` says when the loop last came round.
  void Watch(std::string name, std::function<Time()> last) {
    loops_.emplace_back(std::move(name), std::move(last));
  }

  // Those that have not come round for longer than `patience`, with the time in words; empty: all
  // are alive.
  std::string Stuck(Time now, std::chrono::milliseconds patience) const;

 private:
  std::vector<std::pair<std::string, std::function<Time()>>> loops_;
};

}  // namespace sluice::daemon
