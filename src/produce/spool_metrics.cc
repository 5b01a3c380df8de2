#include "produce/spool_metrics.h"

#include <string>

namespace sluice::produce {

SpoolMetrics::SpoolMetrics(core::Metrics& metrics) {
  prometheus::Registry& registry = metrics.registry();
  const auto counter = [&](const char* name, const char* help) -> prometheus::Counter* {
    return &prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
  };
  const auto gauge = [&](const char* name, const char* help) -> prometheus::Gauge* {
    return &prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
  };
  auto& by_mode = prometheus::BuildCounter()
                      .Name("sluice_spool_written_total")
                      .Help("Records put into the spool")
                      .Register(registry);
  written = {&by_mode.Add({{"mode", "guaranteed"}}), &by_mode.Add({{"mode", "hasty"}})};
  replayed = counter("sluice_spool_replayed_total", "Spooled records that were delivered to Kafka");
  duplicates = counter("sluice_spool_possible_duplicates_total",
                       "Spooled records sent that may have been written before");
  refused = counter("sluice_spool_refused_total",
                    "Records that the spool did not take, being full or broken");
  set_aside = counter("sluice_spool_set_aside_total",
                      "Spooled records that Kafka refuses for good, now in the folder aside");
  damaged = counter("sluice_spool_damaged_total",
                    "Places in segments that are no records, now in the folder aside");
  torn_bytes = counter("sluice_spool_torn_bytes_total",
                       "Bytes cut off ends of segments that a crash left unfinished");
  failures = counter("sluice_spool_failures_total", "Failed writes of the spool");
  commit_seconds = &prometheus::BuildHistogram()
                        .Name("sluice_spool_commit_seconds")
                        .Help("Time to write and sync one group of records")
                        .Register(registry)
                        .Add({}, prometheus::Histogram::BucketBoundaries{0.0003, 0.001, 0.003, 0.01,
                                                                         0.03, 0.1, 0.3, 1, 3});
  bytes = gauge("sluice_spool_bytes", "Bytes of the spool's files");
  segments = gauge("sluice_spool_segments", "Segments of the spool");
  oldest_seconds = gauge("sluice_spool_oldest_age_seconds", "How long the oldest record waits");
  in_flight = gauge("sluice_spool_in_flight", "Records sent to Kafka and not yet delivered");
}

}  // namespace sluice::produce
