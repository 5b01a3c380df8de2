#include "intake/status_history.h"

#include <algorithm>
#include <utility>

namespace sluice::intake {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::string_view LabelOf(const ClientMetric& metric, std::string_view name) {
  for (const ClientMetric::Label& label : metric.label) {
    if (label.name == name) return label.value;
  }
  return {};
}

float Rate(double now, double before, double seconds) {
  return static_cast<float>(std::max(0.0, now - before) / seconds);
}

template <class T>
void Push(std::vector<T>& series, const T& value) {
  if (series.size() >= StatusHistory::kSteps) series.erase(series.begin());
  series.push_back(value);
}

double SumOf(const MetricFamily& family) {
  double sum = 0;
  for (const ClientMetric& metric : family.metric) {
    sum += family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value;
  }
  return sum;
}

// The value below which `share` of what was counted lies, in milliseconds, as far as buckets tell;
// negative if there is nothing.
float Quantile(const std::map<double, double>& buckets, double total, double share) {
  if (total <= 0) return -1;
  const double wanted = total * share;
  double lower_bound = 0;
  double below = 0;
  for (const auto& [bound, count] : buckets) {
    if (count >= wanted) {
      const double inside = count - below;
      const double part = inside > 0 ? (wanted - below) / inside : 1;
      return static_cast<float>((lower_bound + (bound - lower_bound) * part) * 1000);
    }
    lower_bound = bound;
    below = count;
  }
  return static_cast<float>(lower_bound * 1000);  // above the last bound: at least that
}

}  // namespace

std::map<std::string, StatusHistory::Totals> StatusHistory::TotalsOf(const MetricFamily& family) {
  std::map<std::string, Totals> totals;
  for (const ClientMetric& metric : family.metric) {
    Totals& of_stream = totals[std::string(LabelOf(metric, "stream"))];
    const std::string_view outcome = LabelOf(metric, "outcome");
    double& total = outcome == "refused"  ? of_stream.refused
                    : outcome == "failed" ? of_stream.failed
                                          : of_stream.accepted;
    total += metric.counter.value;
  }
  return totals;
}

void StatusHistory::Add(const std::vector<MetricFamily>& families, Clock::time_point now) {
  std::map<std::string, double, std::less<>> values;
  std::map<std::string, Totals> streams;
  Buckets buckets;
  for (const MetricFamily& family : families) {
    if (family.type == MetricType::Counter || family.type == MetricType::Gauge)
      values[family.name] = SumOf(family);
    if (family.name == "sluice_events_total") streams = TotalsOf(family);
    if (family.name != "sluice_http_request_duration_seconds") continue;
    for (const ClientMetric& metric : family.metric) {
      if (LabelOf(metric, "path") != events_path_) continue;
      for (const auto& bucket : metric.histogram.bucket)
        buckets[bucket.upper_bound] = static_cast<double>(bucket.cumulative_count);
      buckets[1e9] = static_cast<double>(metric.histogram.sample_count);
    }
  }
  const std::lock_guard lock(mutex_);
  const double seconds = std::chrono::duration<double>(now - last_).count();
  const Totals before{
      values_["sluice_events_acknowledged_total"] + values_["sluice_events_hastily_accepted_total"],
      values_["sluice_events_refused_total"], values_["sluice_events_failed_total"]};
  values_ = std::move(values);
  last_ = now;
  if (!std::exchange(begun_, true) || seconds <= 0) {
    buckets_ = std::move(buckets);
    totals_ = std::move(streams);
    return;
  }
  Push(rates_, {Rate(values_["sluice_events_acknowledged_total"] +
                         values_["sluice_events_hastily_accepted_total"],
                     before.accepted, seconds),
                Rate(values_["sluice_events_refused_total"], before.refused, seconds),
                Rate(values_["sluice_events_failed_total"], before.failed, seconds)});
  AddLatencies(buckets);
  AddStreams(streams, seconds);
}

void StatusHistory::AddLatencies(const Buckets& buckets) {
  Buckets since;
  double total = 0;
  for (const auto& [bound, count] : buckets) {
    const auto before = buckets_.find(bound);
    since[bound] = count - (before == buckets_.end() ? 0 : before->second);
    total = since[bound];
  }
  since.erase(1e9);
  Push(p50_ms_, Quantile(since, total, 0.5));
  Push(p99_ms_, Quantile(since, total, 0.99));
  buckets_ = buckets;
}

StatusHistory::Series* StatusHistory::FindOrAdd(const std::string& name, double rate) {
  const auto found = streams_.find(name);
  if (found != streams_.end()) return &found->second;
  if (rate <= 0) return nullptr;
  if (streams_.size() >= kMaxStreams) {
    const auto least = std::min_element(
        streams_.begin(), streams_.end(),
        [](const auto& a, const auto& b) { return a.second.weight < b.second.weight; });
    if (least->second.weight >= rate) return nullptr;
    streams_.erase(least);
  }
  Series& series = streams_[name];
  series.rates.resize(rates_.size() - 1);
  return &series;
}

void StatusHistory::AddStreams(const std::map<std::string, Totals>& totals, double seconds) {
  for (const auto& [name, now] : totals) {
    const Totals before = std::exchange(totals_[name], now);
    const OutcomeRates rates{Rate(now.accepted, before.accepted, seconds),
                             Rate(now.refused, before.refused, seconds),
                             Rate(now.failed, before.failed, seconds)};
    Series* series = FindOrAdd(name, static_cast<double>(rates.sum()));
    if (series == nullptr) continue;
    if (series->rates.size() >= kSteps)
      series->weight -= static_cast<double>(series->rates.front().sum());
    series->weight += static_cast<double>(rates.sum());
    Push(series->rates, rates);
  }
}

StatusTrends StatusHistory::Trends() const {
  StatusTrends trends;
  trends.step = kStep;
  trends.steps = kSteps;
  const std::lock_guard lock(mutex_);
  trends.rates = rates_;
  trends.p50_ms = p50_ms_;
  trends.p99_ms = p99_ms_;
  trends.values = values_;
  std::vector<std::pair<double, const std::pair<const std::string, Series>*>> order;
  for (const auto& entry : streams_) {
    double weight = 0;
    for (const OutcomeRates& rates : entry.second.rates) weight += static_cast<double>(rates.sum());
    if (weight > 0) order.emplace_back(weight, &entry);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [weight, entry] : order)
    trends.streams.push_back({entry->first, entry->second.rates});
  return trends;
}

}  // namespace sluice::intake
