#include "daemon/signals.h"

#include <ctime>

namespace sluice::daemon {

Signals::Signals() {
  std::signal(SIGPIPE, SIG_IGN);  // a client that goes away is an error code of the write
  sigemptyset(&set_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, signal);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

int Signals::Wait(std::chrono::milliseconds wait) {
  timespec time{};
  time.tv_sec = wait.count() / 1000;
  time.tv_nsec = wait.count() % 1000 * 1000000;
  const int signal = sigtimedwait(&set_, nullptr, &time);
  return signal > 0 ? signal : 0;
}

}  // namespace sluice::daemon
