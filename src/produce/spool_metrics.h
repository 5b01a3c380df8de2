#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <array>
#include <cstdint>

#include "core/metrics.h"

namespace sluice::produce {

// The metrics sluice_spool_*. Any thread.
struct SpoolMetrics {
  explicit SpoolMetrics(core::Metrics& metrics);

  std::array<prometheus::Counter*, 2> written{};    // by DeliveryMode
  prometheus::Counter* replayed = nullptr;          // delivered to Kafka
  prometheus::Counter* duplicates = nullptr;        // sent that may have been written before
  prometheus::Counter* refused = nullptr;           // not taken: full or broken
  prometheus::Counter* set_aside = nullptr;         // records that Kafka refuses for good
  prometheus::Counter* damaged = nullptr;           // places in segments that are no records
  prometheus::Counter* torn_bytes = nullptr;        // cut off ends, at starts
  prometheus::Counter* failures = nullptr;          // of the disk
  prometheus::Histogram* commit_seconds = nullptr;  // one group: write and sync
  prometheus::Gauge* bytes = nullptr;
  prometheus::Gauge* segments = nullptr;
  prometheus::Gauge* oldest_seconds = nullptr;
  prometheus::Gauge* in_flight = nullptr;  // replayed and not yet delivered
};

}  // namespace sluice::produce
