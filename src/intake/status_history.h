#pragma once

#include <prometheus/metric_family.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::intake {

// How many events a second ended how.
struct OutcomeRates {
  float accepted = 0;  // acknowledged or hastily accepted
  float refused = 0;
  float failed = 0;
  float sum() const { return accepted + refused + failed; }
};

// What the counters did in the last quarter of an hour, as of some moment. Series have one value
// for each step, the newest last, and may be shorter than the whole time.
struct StatusTrends {
  struct Stream {
    std::string name;
    std::vector<OutcomeRates> rates;
  };
  std::chrono::duration<double> step{0};
  std::size_t steps = 0;  // of the whole time
  std::vector<OutcomeRates> rates;
  std::vector<float> p50_ms;  // of requests about events; negative: there was none
  std::vector<float> p99_ms;
  std::vector<Stream> streams;  // the busiest first; not those that had no event
  // The sum of each counter and gauge over its labels, as of the newest step.
  std::map<std::string, double, std::less<>> values;

  double ValueOf(std::string_view metric) const {
    const auto found = values.find(metric);
    return found == values.end() ? 0 : found->second;
  }
};

// Keeps samples of the counters. Bounded: steps, and streams with a series of their own (above the
// bound the least busy go). Any thread.
class StatusHistory {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kStep{5};
  static constexpr std::size_t kSteps = 180;
  static constexpr std::size_t kMaxStreams = 200;

  // `events_path` is the label `path` of requests about events.
  explicit StatusHistory(std::string events_path) : events_path_(std::move(events_path)) {}

  // Takes the counters as of `now`; to be called every kStep. The first call only begins.
  void Add(const std::vector<prometheus::MetricFamily>& families, Clock::time_point now);

  StatusTrends Trends() const;

 private:
  struct Totals {
    double accepted = 0;
    double refused = 0;
    double failed = 0;
  };
  using Buckets = std::map<double, double>;  // upper bound -> cumulative count
  struct Series {
    std::vector<OutcomeRates> rates;  // as long as rates_ is
    double weight = 0;                // their sum, about
  };

  static std::map<std::string, Totals> TotalsOf(const prometheus::MetricFamily& family);
  void AddStreams(const std::map<std::string, Totals>& totals, double seconds);
  void AddLatencies(const Buckets& buckets);
  // Null if all others are busier than `rate`.
  Series* FindOrAdd(const std::string& name, double rate);

  const std::string events_path_;
  mutable std::mutex mutex_;
  bool begun_ = false;
  Clock::time_point last_;
  std::vector<OutcomeRates> rates_;
  std::vector<float> p50_ms_;
  std::vector<float> p99_ms_;
  Buckets buckets_;
  std::map<std::string, Totals> totals_;  // of all streams, as many as have labels of their own
  std::map<std::string, Series> streams_;
  std::map<std::string, double, std::less<>> values_;
};

}  // namespace sluice::intake
