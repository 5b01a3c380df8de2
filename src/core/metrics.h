#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/durability.h"
#include "core/error.h"

namespace sluice::core {

// How an event ended, for counting. Every received event ends in exactly one of these.
enum class Disposition : std::uint8_t {
  kAcknowledged,     // guaranteed, and its delivery report said so
  kHastilyAccepted,  // hasty: taken on trust
  kRefused,          // the client's fault (Remedy::kFixRequest), or above its rate
  kFailed,           // ours or the broker's
};
inline constexpr int kDispositionCount = 4;
// "acknowledged": the label `outcome`.
std::string_view ToString(Disposition how);

// The counters of one (stream, schema URI) pair, resolved once per route and kept for the life of
// the process.
struct RouteCounters {
  std::string stream;  // the label values, capped
  std::string schema_uri;
  prometheus::Counter* events_produced =
      nullptr;  // eventgate_events_produced_total, null if dropped
  std::array<prometheus::Counter*, kDispositionCount>
      events{};  // sluice_events_total{stream,outcome}
};

// The parts of a request about events, for sluice_stage_duration_seconds.
enum class Stage : std::uint8_t {
  kProcess,  // from the whole body to the last record handed to the producer, waits for schemas
             // left out
  kSchema,   // waiting for schemas to be loaded
  kDeliver,  // from there to the last delivery report
};
inline constexpr int kStageCount = 3;

// Every metric of the process, in one place. Counters and gauges may be touched from any thread;
// Route() takes a lock and is for caching. Names and labels are the contract's; docs/metrics.md
// lists them and a test compares.
class Metrics {
 public:
  Metrics(const MetricOptions& options, std::string service_name);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  prometheus::Registry& registry();

  // False if the original's names are dropped: then register none either.
  bool keeps_eventgate_names() const;

  // Everything as of now. The conservation sums are read in an order that makes in-flight never
  // negative. Any thread.
  std::vector<prometheus::MetricFamily> Collect();
  // The same as Prometheus text.
  std::string Scrape();

  // The counters of a pair. `known` says that the pair comes from configuration or a loaded schema;
  // others, and those above max_label_values, share the label value `_other`. The reference lives
  // as long as this object.
  RouteCounters& Route(std::string_view stream, std::string_view schema_uri, bool known);

  // eventgate_validation_errors_total, for any failed event; labels capped as in Route. For the
  // slow path.
  void CountFailure(std::string_view stream, std::string_view schema_uri, bool known,
                    ErrorCode code);

  // Ill-formed UTF-8 sequences that were replaced in accepted bodies (sluice_utf8_replaced_total).
  void CountReplacedUtf8(std::uint64_t n);

  // The conservation account of events, and of records handed to the producer.
  void EventsReceived(std::uint64_t n) { received_.fetch_add(n, std::memory_order_relaxed); }
  void EventsEnded(Disposition how, std::uint64_t n) {
    ended_[static_cast<int>(how)].fetch_add(n, std::memory_order_release);
  }
  // Events that were answered 202 and then failed for a reason of ours: what a stop counts as lost.
  void HastyLost(std::uint64_t n) { hasty_lost_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t hasty_lost() const { return hasty_lost_.load(std::memory_order_relaxed); }
  void RecordsHanded(std::uint64_t n) { handed_.fetch_add(n, std::memory_order_relaxed); }
  void RecordsDelivered(std::uint64_t n) { delivered_.fetch_add(n, std::memory_order_release); }
  void RecordsFailed(std::uint64_t n) { records_failed_.fetch_add(n, std::memory_order_release); }
  // Put into the spool: their way from there to Kafka is the spool's own account.
  void RecordsSpooled(std::uint64_t n) { records_spooled_.fetch_add(n, std::memory_order_release); }
  std::uint64_t events_received() const { return received_.load(std::memory_order_relaxed); }
  std::uint64_t events_ended(Disposition how) const {
    return ended_[static_cast<int>(how)].load(std::memory_order_relaxed);
  }
  std::uint64_t events_in_flight() const;
  std::uint64_t records_in_flight() const;

  // After the producer's end, when nothing can be on its way: a debug build ends here if the
  // account of events or that of records says otherwise.
  void CheckSettled() const;

  // Acknowledged events by what their acknowledgement rests on
  // (sluice_acknowledgements_total{durability}).
  void EventsRestOn(Durability durability, std::uint64_t n);

  // How long a stage of a request took.
  void ObserveStage(Stage stage, std::chrono::steady_clock::duration time);

  // A gauge that is worked out at each scrape, by its thread. Before serving starts.
  void AddGauge(const std::string& name, const std::string& help, std::function<double()> value);

  // express_router_request_duration_seconds and sluice_http_requests_total. `path` is the route's
  // label
  // ("v1/events", "_info", "root", "_other"), never the client's text.
  void CountRequest(std::string_view path, std::string_view method, int status, double seconds);

 private:
  struct Families;
  std::vector<prometheus::MetricFamily> Conservation() const;

  std::unique_ptr<Families> families_;
  std::atomic<std::uint64_t> received_{0};
  std::array<std::atomic<std::uint64_t>, kDispositionCount> ended_{};
  std::atomic<std::uint64_t> hasty_lost_{0};
  std::atomic<std::uint64_t> handed_{0};
  std::atomic<std::uint64_t> delivered_{0};
  std::atomic<std::uint64_t> records_failed_{0};
  std::atomic<std::uint64_t> records_spooled_{0};
};

}  // namespace sluice::core
