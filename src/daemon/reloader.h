#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "core/metrics.h"
#include "daemon/config_diff.h"
#include "daemon/config_reader.h"

namespace sluice::daemon {

// How a reload ended.
struct ReloadReport {
  bool applied = false;
  std::uint64_t generation = 0;  // of the configuration in force now
  std::vector<std::string> changed;
  std::vector<std::string> needs_restart;
  std::vector<std::string> problems;  // a sentence each; if any, nothing was changed

  // One sentence for a log or STATUS=.
  std::string Summary() const;
  std::string Json() const;
};

// Reads the configuration again where it was read at start, and hands it to the parts of the daemon
// that follow it: all of them, or, if anything is wrong with it, none. Any thread.
class Reloader {
 public:
  using Apply = std::function<void()>;
  // A part's word on a new configuration: what makes the part go by it, or what is wrong with it,
  // one sentence a line. May block (files, network); changes nothing yet.
  using Prepare = std::function<core::Result<Apply>(const ConfigChange& change)>;

  // `config` is what `source` said at start.
  Reloader(ConfigSource source, const core::Config& config, core::Metrics& metrics);

  // Parts are asked, and changed, in the order in which they were added. Before the first Reload.
  void AddPart(Prepare prepare) { parts_.push_back(std::move(prepare)); }

  // One at a time; a second caller waits, and reads again after the first.
  ReloadReport Reload();

  // What is in force.
  std::shared_ptr<const core::Config> current() const;

 private:
  ReloadReport Try();
  void Count(const ReloadReport& report);

  const ConfigSource source_;
  std::vector<Prepare> parts_;
  std::mutex reloading_;
  mutable std::mutex mutex_;  // guards current_
  std::shared_ptr<const core::Config> current_;
  std::atomic<std::uint64_t> generation_{1};
  std::atomic<bool> last_applied_{true};
  prometheus::Counter& applied_total_;
  prometheus::Counter& refused_total_;
  prometheus::Gauge& last_success_;
};

}  // namespace sluice::daemon
