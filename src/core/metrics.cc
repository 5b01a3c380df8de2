#include "core/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cstdlib>
#include <iterator>
#include <mutex>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/process_metrics.h"
#include "core/request_table.h"
#include "core/version.h"

namespace sluice::core {
namespace {

constexpr std::string_view kOther = "_other";

// The original's class names, which its dashboards filter by, as far as it has a class for the
// case.
std::string_view EventgateErrorType(ErrorCode code) {
  switch (code) {
    case ErrorCode::kValidationFailed:
      return "ValidationError";
    case ErrorCode::kStreamNotConfigured:
    case ErrorCode::kStreamSchemaMismatch:
      return "UnauthorizedSchemaForStreamError";
    case ErrorCode::kSchemaNotFound:
    case ErrorCode::kSchemaUnavailable:
      return "EventSchemaLoadError";
    default:
      return ToString(code);
  }
}

// Failures of a body as a whole are no events for the original.
bool IsEventFailure(ErrorCode code) {
  return code != ErrorCode::kMalformedBody && code != ErrorCode::kBodyTooLarge &&
         code != ErrorCode::kUnsupportedMediaType;
}

// Debug builds, and sluice_checked of the tests, end here: something was counted twice, or as ended
// before it began.
void CheckAccount(std::string_view what, std::uint64_t begun, std::uint64_t ended) {
#if !defined(NDEBUG) || defined(SLUICE_CHECK_ACCOUNTS)
  if (ended > begun) {
    Log(LogLevel::kFatal, "conservation_broken", "more have ended than were begun",
        {{"what", what},
         {"begun", static_cast<std::int64_t>(begun)},
         {"ended", static_cast<std::int64_t>(ended)}});
    std::abort();
  }
#else
  static_cast<void>(what), static_cast<void>(begun), static_cast<void>(ended);
#endif
}

struct Pair {
  std::string_view stream;
  std::string_view schema_uri;
};

prometheus::MetricFamily Sum(std::string name, std::string help, prometheus::MetricType type,
                             std::uint64_t value) {
  prometheus::ClientMetric metric;
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value = static_cast<double>(value);
  } else {
    metric.gauge.value = static_cast<double>(value);
  }
  return {std::move(name), std::move(help), type, {metric}};
}

}  // namespace

std::string_view ToString(Disposition how) {
  switch (how) {
    case Disposition::kAcknowledged:
      return "acknowledged";
    case Disposition::kHastilyAccepted:
      return "hastily_accepted";
    case Disposition::kRefused:
      return "refused";
    case Disposition::kFailed:
      return "failed";
  }
  return "failed";
}

struct Metrics::Families {
  Families(const MetricOptions& o, std::string service)
      : options(o),
        service_name(std::move(service)),
        requests(o.eventgate_names ? EventgateNames::kKeep : EventgateNames::kDrop) {
    if (options.eventgate_names) {
      produced = &prometheus::BuildCounter()
                      .Name("eventgate_events_produced_total")
                      .Help("Events handed to the producer")
                      .Labels({{"service", service_name}})
                      .Register(registry);
      validation_errors = &prometheus::BuildCounter()
                               .Name("eventgate_validation_errors_total")
                               .Help("Events that failed, by stream, schema and kind of error")
                               .Labels({{"service", service_name}})
                               .Register(registry);
    }
    events = &prometheus::BuildCounter()
                  .Name("sluice_events_total")
                  .Help("Events ended, by stream and outcome")
                  .Register(registry);
    failures = &prometheus::BuildCounter()
                    .Name("sluice_event_failures_total")
                    .Help("Events and whole requests not accepted, by reason")
                    .Register(registry);
    for (int i = 0; i < kErrorCodeCount; ++i) {
      failures_by_code[static_cast<std::size_t>(i)] =
          &failures->Add({{"reason", std::string(ToString(static_cast<ErrorCode>(i)))}});
    }
    auto& acknowledgements_family = prometheus::BuildCounter()
                                        .Name("sluice_acknowledgements_total")
                                        .Help("Events acknowledged, by what that rests on")
                                        .Register(registry);
    for (int i = 0; i < kDurabilityCount; ++i) {
      acknowledgements[static_cast<std::size_t>(i)] = &acknowledgements_family.Add(
          {{"durability", std::string(ToString(static_cast<Durability>(i)))}});
    }
    auto& stage_times = prometheus::BuildHistogram()
                            .Name("sluice_stage_duration_seconds")
                            .Help("Time that requests about events spent in each stage")
                            .Register(registry);
    for (const auto& [stage, name] : {std::pair{Stage::kProcess, "process"},
                                      {Stage::kSchema, "schema"},
                                      {Stage::kDeliver, "deliver"}}) {
      stages[static_cast<std::size_t>(stage)] = &stage_times.Add(
          {{"stage", name}},
          prometheus::Histogram::BucketBoundaries{0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10});
    }
    replaced_utf8 = &prometheus::BuildCounter()
                         .Name("sluice_utf8_replaced_total")
                         .Help("Ill-formed UTF-8 sequences in bodies that were read as U+FFFD")
                         .Register(registry)
                         .Add({});
    prometheus::BuildGauge()
        .Name("sluice_build_info")
        .Help("Always 1; the labels tell the build")
        .Register(registry)
        .Add({{"version", std::string(kVersion)}})
        .Set(1);
  }

  // The labels that a pair gets. Needs `mutex`.
  Pair Admit(std::string_view stream, std::string_view schema_uri, bool known) {
    if (!known) return {kOther, kOther};
    std::string key = Key({stream, schema_uri});
    if (admitted.count(key) == 0) {
      if (admitted.size() >= static_cast<std::size_t>(options.max_label_values))
        return {kOther, kOther};
      admitted.insert(std::move(key));
    }
    return {stream, schema_uri};
  }

  static std::string Key(Pair pair) {
    std::string key(pair.stream);
    key += '\0';
    key += pair.schema_uri;
    return key;
  }

  RouteCounters MakeRoute(Pair pair) {
    RouteCounters counters;
    const std::string stream(pair.stream);
    counters.stream = stream;
    counters.schema_uri = pair.schema_uri;
    if (produced != nullptr) {
      counters.events_produced =
          &produced->Add({{"stream", stream}, {"schema_uri", std::string(pair.schema_uri)}});
    }
    for (int i = 0; i < kDispositionCount; ++i) {
      const std::string outcome(ToString(static_cast<Disposition>(i)));
      counters.events[static_cast<std::size_t>(i)] =
          &events->Add({{"stream", stream}, {"outcome", outcome}});
    }
    return counters;
  }

  const MetricOptions options;
  const std::string service_name;
  prometheus::Counter* replaced_utf8 = nullptr;
  std::array<prometheus::Histogram*, kStageCount> stages{};
  std::array<prometheus::Counter*, kDurabilityCount> acknowledgements{};
  std::vector<std::pair<prometheus::Gauge*, std::function<double()>>>
      computed;  // set at each scrape
  prometheus::Registry registry;
  RequestTable requests;
  ProcessMetrics process;
  prometheus::Family<prometheus::Counter>* produced = nullptr;  // null: eventgate_names is off
  prometheus::Family<prometheus::Counter>* validation_errors = nullptr;  // the same
  prometheus::Family<prometheus::Counter>* events = nullptr;
  prometheus::Family<prometheus::Counter>* failures = nullptr;
  std::array<prometheus::Counter*, kErrorCodeCount> failures_by_code{};

  std::mutex mutex;  // guards what follows
  std::unordered_set<std::string> admitted;
  std::unordered_map<std::string, RouteCounters> routes;  // references into it stay valid
};

Metrics::Metrics(const MetricOptions& options, std::string service_name)
    : families_(std::make_unique<Families>(options, std::move(service_name))) {}

Metrics::~Metrics() = default;

prometheus::Registry& Metrics::registry() { return families_->registry; }

bool Metrics::keeps_eventgate_names() const { return families_->options.eventgate_names; }

RouteCounters& Metrics::Route(std::string_view stream, std::string_view schema_uri, bool known) {
  const std::lock_guard lock(families_->mutex);
  const Pair pair = families_->Admit(stream, schema_uri, known);
  std::string key = Families::Key(pair);
  const auto found = families_->routes.find(key);
  if (found != families_->routes.end()) return found->second;
  RouteCounters& route =
      families_->routes.emplace(std::move(key), families_->MakeRoute(pair)).first->second;
  route.stream = pair.stream;
  route.schema_uri = pair.schema_uri;
  return route;
}

void Metrics::CountFailure(std::string_view stream, std::string_view schema_uri, bool known,
                           ErrorCode code) {
  families_->failures_by_code[static_cast<std::size_t>(code)]->Increment();
  if (families_->validation_errors == nullptr || !IsEventFailure(code)) return;
  const std::lock_guard lock(families_->mutex);
  const Pair pair = families_->Admit(stream, schema_uri, known);
  families_->validation_errors
      ->Add({{"stream", std::string(pair.stream)},
             {"schema_uri", std::string(pair.schema_uri)},
             {"error_type", std::string(EventgateErrorType(code))}})
      .Increment();
}

void Metrics::CountReplacedUtf8(std::uint64_t n) {
  families_->replaced_utf8->Increment(static_cast<double>(n));
}

void Metrics::CountRequest(std::string_view path, std::string_view method, int status,
                           double seconds) {
  families_->requests.Count(path, method, status, seconds);
}

std::uint64_t Metrics::events_in_flight() const {
  std::uint64_t ended = 0;
  for (const auto& counter : ended_) ended += counter.load(std::memory_order_acquire);
  return received_.load(std::memory_order_relaxed) - ended;
}

std::uint64_t Metrics::records_in_flight() const {
  const std::uint64_t ended = delivered_.load(std::memory_order_acquire) +
                              records_failed_.load(std::memory_order_acquire) +
                              records_spooled_.load(std::memory_order_acquire);
  return handed_.load(std::memory_order_relaxed) - ended;
}

void Metrics::CheckSettled() const {
  CheckAccount("records at the end", 0, records_in_flight());
  CheckAccount("events at the end", 0, events_in_flight());
}

// What has ended is read first: whoever counted an end had counted the beginning before, and
// released it with the end, so the beginnings read afterwards are at least as many and the
// difference is what is in flight, never negative.
std::vector<prometheus::MetricFamily> Metrics::Conservation() const {
  using prometheus::MetricType;
  std::array<std::uint64_t, kDispositionCount> ended{};
  std::uint64_t all_ended = 0;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    ended[i] = ended_[i].load(std::memory_order_acquire);
    all_ended += ended[i];
  }
  const std::uint64_t received = received_.load(std::memory_order_relaxed);
  const std::uint64_t delivered = delivered_.load(std::memory_order_acquire);
  const std::uint64_t failed = records_failed_.load(std::memory_order_acquire);
  const std::uint64_t spooled = records_spooled_.load(std::memory_order_acquire);
  const std::uint64_t handed = handed_.load(std::memory_order_relaxed);
  CheckAccount("events", received, all_ended);
  CheckAccount("records", handed, delivered + failed + spooled);

  std::vector<prometheus::MetricFamily> families;
  families.push_back(Sum("sluice_events_received_total", "Events taken from request bodies",
                         MetricType::Counter, received));
  for (std::size_t i = 0; i < ended.size(); ++i) {
    const std::string word(ToString(static_cast<Disposition>(i)));
    families.push_back(Sum("sluice_events_" + word + "_total",
                           "Events received that ended as " + word, MetricType::Counter, ended[i]));
  }
  families.push_back(Sum("sluice_events_in_flight", "Events received and not ended",
                         MetricType::Gauge, received - all_ended));
  families.push_back(Sum("sluice_records_handed_total", "Records handed to the producer",
                         MetricType::Counter, handed));
  families.push_back(Sum("sluice_records_delivered_total", "Records with a good delivery report",
                         MetricType::Counter, delivered));
  families.push_back(Sum("sluice_records_failed_total", "Records that were not delivered",
                         MetricType::Counter, failed));
  families.push_back(Sum("sluice_records_spooled_total", "Records put into the spool",
                         MetricType::Counter, spooled));
  families.push_back(Sum("sluice_records_in_flight", "Records handed to the producer and not ended",
                         MetricType::Gauge, handed - delivered - failed - spooled));
  return families;
}

void Metrics::EventsRestOn(Durability durability, std::uint64_t n) {
  families_->acknowledgements[static_cast<std::size_t>(durability)]->Increment(
      static_cast<double>(n));
}

void Metrics::ObserveStage(Stage stage, std::chrono::steady_clock::duration time) {
  families_->stages[static_cast<std::size_t>(stage)]->Observe(
      std::chrono::duration<double>(time).count());
}

void Metrics::AddGauge(const std::string& name, const std::string& help,
                       std::function<double()> value) {
  prometheus::Gauge& gauge =
      prometheus::BuildGauge().Name(name).Help(help).Register(families_->registry).Add({});
  families_->computed.emplace_back(&gauge, std::move(value));
}

std::vector<prometheus::MetricFamily> Metrics::Collect() {
  for (const auto& [gauge, value] : families_->computed) gauge->Set(value());
  std::vector<prometheus::MetricFamily> all = Conservation();
  for (std::vector<prometheus::MetricFamily> part :
       {families_->registry.Collect(), families_->requests.Collect(),
        families_->process.Collect()}) {
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  std::erase_if(all, [](const prometheus::MetricFamily& family) { return family.metric.empty(); });
  return all;
}

std::string Metrics::Scrape() {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, Collect());
  return std::move(text).str();
}

}  // namespace sluice::core
