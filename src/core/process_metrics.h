#pragma once

#include <prometheus/collectable.h>

#include <vector>

namespace sluice::core {

// What Linux tells of this process (process_resident_memory_bytes and so on), read at each scrape.
// Any thread.
class ProcessMetrics final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace sluice::core
