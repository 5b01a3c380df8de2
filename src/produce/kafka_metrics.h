#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/metrics.h"

namespace sluice::produce {

// What one of the Kafka producers tells about itself, with the label producer_type ("guaranteed",
// "hasty", and for a second cluster "guaranteed-fallback" and "hasty-fallback"). Counters may be
// touched from any thread.
class KafkaMetrics {
 public:
  KafkaMetrics(core::Metrics& metrics, std::string_view producer_type);

  // Sets the gauges eventgate_rdkafka_<name> (none if the original's names are off) from the
  // top-level numbers of librdkafka's statistics; false if the text is not JSON of that shape.
  bool TakeStatistics(std::string_view json);

  // The delivery latencies of a group of records, collected by one thread and added at once.
  class Latencies {
   public:
    Latencies();
    void Add(std::int64_t microseconds);

   private:
    friend class KafkaMetrics;
    std::vector<double> counts_;
    double seconds_ = 0;
  };
  void Observe(const Latencies& latencies);

  prometheus::Gauge* queued_bytes = nullptr;        // sluice_kafka_queue_bytes
  prometheus::Counter* delivered = nullptr;         // sluice_kafka_records_delivered_total
  prometheus::Counter* queue_full = nullptr;        // sluice_kafka_queue_full_total
  prometheus::Counter* replayed = nullptr;          // sluice_kafka_records_replayed_total
  prometheus::Counter* possibly_written = nullptr;  // sluice_kafka_records_possibly_written_total
  prometheus::Counter* generations = nullptr;       // sluice_kafka_producer_generations_total

 private:
  struct Field {
    std::string_view name;
    prometheus::Gauge* gauge;
  };
  std::vector<Field> fields_;
  prometheus::Histogram* latency_ = nullptr;  // sluice_kafka_delivery_seconds
};

}  // namespace sluice::produce
