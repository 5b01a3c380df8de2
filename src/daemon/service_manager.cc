#include "daemon/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <ctime>

namespace sluice::daemon::service_manager {
namespace {

// One line: a further one would be another assignment.
std::string Line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

void Tell(const std::string& assignments) { sd_notify(0, assignments.c_str()); }

}  // namespace

void Ready(const std::string& status) { Tell("READY=1\nSTATUS=" + Line(status)); }

void Reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t us = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  Tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us) +
       "\nSTATUS=Reading the configuration again");
}

void Stopping(const std::string& status) { Tell("STOPPING=1\nSTATUS=" + Line(status)); }

void Status(const std::string& status) { Tell("STATUS=" + Line(status)); }

std::chrono::microseconds WatchdogInterval() {
  std::uint64_t us = 0;
  if (sd_watchdog_enabled(0, &us) <= 0) return {};
  return std::chrono::microseconds(us);
}

void Alive() { Tell("WATCHDOG=1"); }

}  // namespace sluice::daemon::service_manager
