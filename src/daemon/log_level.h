#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "core/log.h"
#include "intake/admin_server.h"

namespace sluice::daemon {

// GET, PUT and POST /-/log-level: the level of the log at run time, for good or for a while. Any
// thread.
class LogLevelControl {
 public:
  // The routes refer to this.
  void AddTo(intake::AdminServer& admin);

  // Goes back where a change was for a while that is over. To be called about once a second.
  void Tick(std::chrono::steady_clock::time_point now);

 private:
  struct Change {
    core::LogLevel level;
    std::optional<std::chrono::seconds> lasting;
  };
  // For a while: `before` comes back at `until`, unless the level was changed in between.
  struct Temporary {
    core::LogLevel level;
    core::LogLevel before;
    std::chrono::steady_clock::time_point until;
  };

  // The change that a request asks for, or in `problem` why it is none.
  static std::optional<Change> Read(const intake::AdminRequest& request, std::string& problem);
  intake::AdminReply Set(const intake::AdminRequest& request);
  void Apply(const Change& change);
  intake::AdminReply Present();

  std::mutex mutex_;
  std::optional<Temporary> temporary_;
};

}  // namespace sluice::daemon
