#include "core/request_table.h"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <map>

namespace sluice::core {
namespace {

constexpr std::array<std::string_view, 7> kKnownMethods = {"GET",    "HEAD",  "POST",   "PUT",
                                                           "DELETE", "PATCH", "OPTIONS"};
constexpr std::string_view kOther = "_other";
constexpr std::array<double, 6> kExpressBounds = {0.01, 0.05, 0.1, 0.3, 1, 10};

std::size_t ThreadStripe(std::size_t stripes) {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine % stripes;
}

prometheus::ClientMetric::Label MakeLabel(std::string_view name, std::string_view value) {
  return {std::string(name), std::string(value)};
}

}  // namespace

std::uint64_t RequestTable::Totals::count() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t bucket : buckets) sum += bucket;
  return sum;
}

void RequestTable::Totals::Add(const Totals& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) buckets[i] += other.buckets[i];
  nanoseconds += other.nanoseconds;
}

RequestTable::Totals RequestTable::Cell::Sum() const {
  Totals totals;
  for (const Stripe& stripe : stripes) {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      totals.buckets[i] += stripe.buckets[i].load(std::memory_order_relaxed);
    }
    totals.nanoseconds += stripe.nanoseconds.load(std::memory_order_relaxed);
  }
  return totals;
}

// Few and short keys: the ends and the length tell them apart well enough.
std::size_t RequestTable::Hash(std::string_view path, std::string_view method, int status) {
  std::uint64_t h = static_cast<std::uint64_t>(status) * 0x9e3779b97f4a7c15ull + path.size() * 131 +
                    method.size();
  if (!path.empty()) {
    h ^= static_cast<std::uint64_t>(static_cast<unsigned char>(path.front())) << 8;
    h ^= static_cast<std::uint64_t>(static_cast<unsigned char>(path.back())) << 16;
    h ^= static_cast<std::uint64_t>(static_cast<unsigned char>(path[path.size() / 2])) << 24;
  }
  if (!method.empty())
    h ^= static_cast<std::uint64_t>(static_cast<unsigned char>(method.front())) << 32;
  h *= 0xbf58476d1ce4e5b9ull;
  return static_cast<std::size_t>(h >> 40) & (kSlots - 1);
}

RequestTable::Cell* RequestTable::Find(std::string_view path, std::string_view method,
                                       int status) const {
  for (std::size_t slot = Hash(path, method, status);; slot = (slot + 1) & (kSlots - 1)) {
    Cell* cell = slots_[slot].load(std::memory_order_acquire);
    if (cell == nullptr || cell->Is(path, method, status)) return cell;
  }
}

RequestTable::Cell* RequestTable::FindOrAdd(std::string_view path, std::string_view method,
                                            int status) {
  if (std::find(kKnownMethods.begin(), kKnownMethods.end(), method) == kKnownMethods.end())
    method = kOther;
  if (Cell* cell = Find(path, method, status); cell != nullptr) return cell;
  const std::lock_guard lock(mutex_);
  if (cells_.size() + 1 >= kMaxCells) {  // one cell is kept for what no longer fits
    path = method = kOther;
    status = 0;
  }
  std::size_t slot = Hash(path, method, status);
  for (;; slot = (slot + 1) & (kSlots - 1)) {
    Cell* cell = slots_[slot].load(std::memory_order_relaxed);
    if (cell == nullptr) break;
    if (cell->Is(path, method, status)) return cell;
  }
  Cell& cell = cells_.emplace_back();
  cell.path = path;
  cell.method = method;
  cell.status = status;
  slots_[slot].store(&cell, std::memory_order_release);
  return &cell;
}

void RequestTable::Count(std::string_view path, std::string_view method, int status,
                         double seconds) {
  Cell* cell = Find(path, method, status);
  if (cell == nullptr) cell = FindOrAdd(path, method, status);
  Stripe& stripe = cell->stripes[ThreadStripe(kStripes)];
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  stripe.buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  stripe.nanoseconds.fetch_add(seconds > 0 ? static_cast<std::uint64_t>(seconds * 1e9) : 0,
                               std::memory_order_relaxed);
}

prometheus::MetricFamily RequestTable::RequestFamily(const std::vector<const Cell*>& cells) {
  prometheus::MetricFamily family{
      "sluice_http_requests_total", "HTTP requests answered", prometheus::MetricType::Counter, {}};
  for (const Cell* cell : cells) {
    prometheus::ClientMetric metric;
    metric.label = {MakeLabel("path", cell->path), MakeLabel("method", cell->method),
                    MakeLabel("status", std::to_string(cell->status))};
    metric.counter.value = static_cast<double>(cell->Sum().count());
    family.metric.push_back(std::move(metric));
  }
  return family;
}

prometheus::MetricFamily RequestTable::DurationFamily(const std::vector<const Cell*>& cells) {
  prometheus::MetricFamily family{"sluice_http_request_duration_seconds",
                                  "From the first byte of a request to the last byte of its answer",
                                  prometheus::MetricType::Histogram,
                                  {}};
  std::map<std::string_view, Totals> by_path;
  for (const Cell* cell : cells) by_path[cell->path].Add(cell->Sum());
  for (const auto& [path, totals] : by_path) {
    prometheus::ClientMetric metric;
    metric.label = {MakeLabel("path", path)};
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
      cumulative += totals.buckets[i];
      metric.histogram.bucket.push_back({cumulative, kBounds[i]});
    }
    metric.histogram.sample_count = totals.count();
    metric.histogram.sample_sum = static_cast<double>(totals.nanoseconds) / 1e9;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

prometheus::MetricFamily RequestTable::ExpressFamily(const std::vector<const Cell*>& cells) {
  prometheus::MetricFamily family{"express_router_request_duration_seconds",
                                  "Request durations under the original's name and buckets",
                                  prometheus::MetricType::Histogram,
                                  {}};
  for (const Cell* cell : cells) {
    const Totals totals = cell->Sum();
    prometheus::ClientMetric metric;
    metric.label = {MakeLabel("path", cell->path), MakeLabel("method", cell->method),
                    MakeLabel("status", std::to_string(cell->status))};
    std::uint64_t cumulative = 0;
    std::size_t next = 0;
    for (const double bound : kExpressBounds) {
      for (; next < kBounds.size() && kBounds[next] <= bound; ++next)
        cumulative += totals.buckets[next];
      metric.histogram.bucket.push_back({cumulative, bound});
    }
    metric.histogram.sample_count = totals.count();
    metric.histogram.sample_sum = static_cast<double>(totals.nanoseconds) / 1e9;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

std::vector<prometheus::MetricFamily> RequestTable::Collect() const {
  std::vector<const Cell*> cells;
  {
    const std::lock_guard lock(mutex_);
    for (const Cell& cell : cells_) cells.push_back(&cell);
  }
  if (cells.empty()) return {};
  std::vector<prometheus::MetricFamily> families = {RequestFamily(cells), DurationFamily(cells)};
  if (names_ == EventgateNames::kKeep) families.push_back(ExpressFamily(cells));
  return families;
}

}  // namespace sluice::core
