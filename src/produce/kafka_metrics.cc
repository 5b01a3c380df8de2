#include "produce/kafka_metrics.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sluice::produce {
namespace {

// Top-level numbers of librdkafka's statistics (STATISTICS.md there says what they are).
constexpr std::array<std::string_view, 13> kStatistics = {
    "replyq",   "msg_cnt", "msg_size",    "msg_max", "msg_size_max",      "tx", "tx_bytes", "rx",
    "rx_bytes", "txmsgs",  "txmsg_bytes", "rxmsgs",  "metadata_cache_cnt"};

// Seconds. The lower ones tell linger from broker, the upper ones a slow broker from a dead one.
const std::vector<double>& Buckets() {
  static const std::vector<double> buckets = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                                              0.2,   0.5,   1,     2,    5,    10,   30};
  return buckets;
}

prometheus::Counter& Counter(core::Metrics& metrics, std::string_view type, const char* name,
                             const char* help) {
  return prometheus::BuildCounter()
      .Name(name)
      .Help(help)
      .Register(metrics.registry())
      .Add({{"producer_type", std::string(type)}});
}

prometheus::Gauge& Gauge(core::Metrics& metrics, std::string_view type, const std::string& name,
                         const std::string& help) {
  return prometheus::BuildGauge()
      .Name(name)
      .Help(help)
      .Register(metrics.registry())
      .Add({{"producer_type", std::string(type)}});
}

}  // namespace

KafkaMetrics::Latencies::Latencies() : counts_(Buckets().size() + 1) {}

void KafkaMetrics::Latencies::Add(std::int64_t microseconds) {
  const double seconds = static_cast<double>(microseconds) / 1e6;
  const auto& buckets = Buckets();
  const auto at = std::lower_bound(buckets.begin(), buckets.end(), seconds);
  counts_[static_cast<std::size_t>(at - buckets.begin())] += 1;
  seconds_ += seconds;
}

KafkaMetrics::KafkaMetrics(core::Metrics& metrics, std::string_view producer_type) {
  for (std::string_view name : kStatistics) {
    if (!metrics.keeps_eventgate_names()) break;
    const std::string full = "eventgate_rdkafka_" + std::string(name);
    fields_.push_back({name, &Gauge(metrics, producer_type, full,
                                    "librdkafka's statistic " + std::string(name))});
  }
  queued_bytes = &Gauge(metrics, producer_type, "sluice_kafka_queue_bytes",
                        "Bytes of values and keys that wait for their delivery report");
  delivered = &Counter(metrics, producer_type, "sluice_kafka_records_delivered_total",
                       "Records with a good delivery report, by the producer that has it");
  queue_full = &Counter(metrics, producer_type, "sluice_kafka_queue_full_total",
                        "Records refused since the queue to Kafka was full");
  replayed = &Counter(metrics, producer_type, "sluice_kafka_records_replayed_total",
                      "Records produced once more after a report that was not theirs");
  possibly_written = &Counter(metrics, producer_type, "sluice_kafka_records_possibly_written_total",
                              "Records that failed or were replayed and may be in the topic");
  generations = &Counter(metrics, producer_type, "sluice_kafka_producer_generations_total",
                         "librdkafka producers made, the first included");
  latency_ = &prometheus::BuildHistogram()
                  .Name("sluice_kafka_delivery_seconds")
                  .Help("From produce to the delivery report")
                  .Register(metrics.registry())
                  .Add({{"producer_type", std::string(producer_type)}}, Buckets());
}

void KafkaMetrics::Observe(const Latencies& latencies) {
  latency_->ObserveMultiple(latencies.counts_, latencies.seconds_);
}

bool KafkaMetrics::TakeStatistics(std::string_view json) {
  boost::system::error_code error;
  const boost::json::value root =
      boost::json::parse(boost::json::string_view(json.data(), json.size()), error);
  if (error || !root.is_object()) return false;
  for (const Field& field : fields_) {
    const boost::json::value* value = root.get_object().if_contains(
        boost::json::string_view(field.name.data(), field.name.size()));
    if (value == nullptr || !value->is_number()) continue;
    field.gauge->Set(value->to_number<double>(error));
  }
  return true;
}

}  // namespace sluice::produce
