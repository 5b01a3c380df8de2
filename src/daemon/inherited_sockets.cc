#include "daemon/inherited_sockets.h"

#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace sluice::daemon {
namespace {

constexpr std::string_view kUnnamed = "unknown";  // what sd_listen_fds_with_names(3) says

core::Error Wrong(const std::string& text) { return {core::ErrorCode::kInternal, text}; }

std::string Describe(int descriptor, const std::string& name) {
  return "The socket \"" + name + "\" (descriptor " + std::to_string(descriptor) +
         ") that this process was started with ";
}

}  // namespace

core::Result<InheritedSockets> SortSockets(const std::vector<std::pair<int, std::string>>& named) {
  InheritedSockets sockets;
  for (const auto& [descriptor, name] : named) {
    const bool is_admin = name == "admin";
    if (!is_admin && name != "events" && name != kUnnamed && !name.empty()) {
      return Wrong(Describe(descriptor, name) +
                   "has a name that means nothing here: set FileDescriptorName= of its socket unit "
                   "to events or admin.");
    }
    // 1: it listens.
    if (sd_is_socket(descriptor, AF_INET, SOCK_STREAM, 1) <= 0 &&
        sd_is_socket(descriptor, AF_INET6, SOCK_STREAM, 1) <= 0) {
      return Wrong(Describe(descriptor, name) +
                   "is no TCP socket that listens: use ListenStream= with an address and port, and "
                   "Accept=no, in its socket unit.");
    }
    if (is_admin && !sockets.admin.empty()) {
      return Wrong(Describe(descriptor, name) +
                   "is a second one for the admin listener, which has one: keep one socket unit "
                   "with FileDescriptorName=admin and one ListenStream=.");
    }
    (is_admin ? sockets.admin : sockets.events).push_back(descriptor);
  }
  return sockets;
}

core::Result<InheritedSockets> TakeInheritedSockets() {
  char** names = nullptr;
  const int count = sd_listen_fds_with_names(1, &names);
  if (count < 0) {
    return Wrong("LISTEN_FDS, LISTEN_PID or LISTEN_FDNAMES of the environment cannot be read (" +
                 std::string(std::strerror(-count)) + "): leave them to the service manager.");
  }
  std::vector<std::pair<int, std::string>> named;
  for (int i = 0; i < count; ++i) {
    named.emplace_back(SD_LISTEN_FDS_START + i, names != nullptr ? names[i] : "");
    if (names != nullptr) std::free(names[i]);
  }
  std::free(names);
  return SortSockets(named);
}

}  // namespace sluice::daemon
