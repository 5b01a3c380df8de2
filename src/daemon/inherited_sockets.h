#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace sluice::daemon {

// Listening sockets that whoever started this process had open already, and keeps open when it ends
// (LISTEN_FDS, sd_listen_fds(3)): what connects between two processes waits in them.
struct InheritedSockets {
  std::vector<int> events;
  std::vector<int> admin;

  bool any() const { return !events.empty() || !admin.empty(); }
};

// Sorts descriptors by their names: "events" or "admin"; without any name they are for events.
// Fails with one sentence that says what to change for a name that nobody knows, a descriptor that
// is no listening stream socket, or two for the admin listener.
core::Result<InheritedSockets> SortSockets(const std::vector<std::pair<int, std::string>>& named);

// What the environment says, and takes that out of it. Without any: none. Before threads.
core::Result<InheritedSockets> TakeInheritedSockets();

}  // namespace sluice::daemon
