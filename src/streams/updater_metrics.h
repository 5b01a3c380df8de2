#pragma once

#include <array>

#include "core/metrics.h"
#include "streams/config_reader.h"

namespace sluice::streams {

// The metrics of the life of stream configuration. Any thread.
class UpdaterMetrics {
 public:
  explicit UpdaterMetrics(core::Metrics& metrics);

  void CountReading(ConfigReading::Outcome outcome);
  void SetStreams(std::size_t n) { streams_.Set(static_cast<double>(n)); }
  // Seconds since the epoch.
  void SetLastSuccess(double seconds) { last_success_.Set(seconds); }

 private:
  prometheus::Family<prometheus::Counter>& readings_;
  std::array<prometheus::Counter*, 6> by_outcome_{};
  prometheus::Gauge& streams_;
  prometheus::Gauge& last_success_;
};

}  // namespace sluice::streams
