#pragma once

#include <chrono>
#include <cstddef>

#include "core/metrics.h"
#include "registry/compile_function.h"

namespace sluice::registry {

// The metrics of the schema registry. Any thread.
class RegistryMetrics {
 public:
  explicit RegistryMetrics(core::Metrics& metrics);

  void SetCacheEntries(std::size_t n) { cache_entries_.Set(static_cast<double>(n)); }
  void SetWaiting(std::size_t n) { waiting_.Set(static_cast<double>(n)); }
  // One load came to its end.
  void CountLoad(const core::Result<SchemaPtr>& result, std::chrono::duration<double> took);

 private:
  prometheus::Gauge& cache_entries_;
  prometheus::Gauge& waiting_;
  prometheus::Family<prometheus::Counter>& loads_;
  prometheus::Histogram& seconds_;
};

}  // namespace sluice::registry
