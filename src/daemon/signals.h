#pragma once

#include <chrono>
#include <csignal>

namespace sluice::daemon {

// The signals that the main thread waits for; blocked from construction on, in every thread that is
// made afterwards.
class Signals {
 public:
  Signals();

  // The next signal (SIGTERM, SIGINT or SIGHUP), or 0 after `wait`.
  int Wait(std::chrono::milliseconds wait);

 private:
  sigset_t set_{};
};

}  // namespace sluice::daemon
