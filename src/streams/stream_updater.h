#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/metrics.h"
#include "streams/config_reader.h"
#include "streams/stream_registry.h"

namespace sluice::streams {

// Keeps the static streams of a registry as their sources say: reads them at start, again after
// config_ttl_seconds, when a file changes, and when asked to. Each reading is checked whole and
// swapped in, or changes nothing; a bad one is counted and told in one log line a minute at most.
// The last good streams are kept on disk, for a start at which the sources fail. One thread of its
// own; the members may be called from any thread.
class StreamUpdater {
 public:
  struct Parts {  // all outlive the updater
    const core::StreamOptions& options;
    StreamRegistry& registry;
    core::Metrics& metrics;
    const core::Clock& clock;
    std::string copy_path;  // empty: no copy is kept
    std::string user_agent = "sluice";
    // For tests: in place of the HTTP client, of the pause before a repetition, and of the clock
    // that log lines are spaced by.
    ConfigReader::Get get = nullptr;
    std::chrono::milliseconds first_pause{500};
    std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  };

  explicit StreamUpdater(Parts parts);
  ~StreamUpdater();

  // Reads all sources, and publishes them; else what the copy on disk says, and goes on trying.
  // Blocks. Fails with kStreamConfigUnavailable if there is neither. Does nothing where streams are
  // not configured.
  core::Result<void> Start();

  // Reads the sources soon; several calls may share one reading. Does not wait.
  void Refresh();

  // Reads the sources and returns when that reading is over. Between Start and Stop.
  void RefreshAndWait();

  // Reads the sources that other options name, and returns what makes the updater go by them, with
  // what was read; until that is called nothing has changed. Fails with kStreamConfigUnavailable
  // and all that is wrong. Whether streams are configured at all must not change. Blocks, and so
  // does the function returned. Between Start and Stop.
  core::Result<std::function<void()>> Prepare(const core::StreamOptions& options);

  // Ends the thread, whatever it is doing.
  void Stop();

  struct State {
    bool from_copy = false;                         // the sources could not be read since the start
    std::string trouble;                            // of the last reading; empty: it was good
    std::chrono::system_clock::time_point good_at;  // the last time that all sources were good
  };
  State state() const;

  // One line about that for an operator; empty if all is well.
  std::string Detail() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// The time until the next reading: `ttl` give or take a tenth. `chance` is from 0 to 1.
std::chrono::milliseconds WithJitter(std::chrono::seconds ttl, double chance);

}  // namespace sluice::streams
