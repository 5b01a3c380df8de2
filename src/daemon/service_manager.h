#pragma once

#include <chrono>
#include <string>

// What systemd is told (sd_notify(3)); nothing happens where it does not listen. Any thread.
namespace sluice::daemon::service_manager {

void Ready(const std::string& status);
// The configuration is being read again; Ready ends it.
void Reloading();
void Stopping(const std::string& status);
// A line for people.
void Status(const std::string& status);

// WatchdogSec= of the unit: how often Alive must come. Zero: it is not waited for.
std::chrono::microseconds WatchdogInterval();
void Alive();

}  // namespace sluice::daemon::service_manager
