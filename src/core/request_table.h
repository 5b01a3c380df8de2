#pragma once

#include <prometheus/collectable.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::core {

enum class EventgateNames : std::uint8_t { kKeep, kDrop };

// Counts and times HTTP requests by (path, method, status). Count() takes no lock once a
// combination was seen, and threads write to stripes of their own, so that it costs some tens of
// nanoseconds. Any thread.
class RequestTable final : public prometheus::Collectable {
 public:
  explicit RequestTable(EventgateNames names) : names_(names) {}

  void Count(std::string_view path, std::string_view method, int status, double seconds);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  // Upper bounds in seconds. Those of the original's histogram are among them, so both are told
  // from one count.
  static constexpr std::array<double, 15> kBounds = {
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.3, 0.5, 1, 2.5, 5, 10};
  static constexpr std::size_t kBuckets = kBounds.size() + 1;
  static constexpr std::size_t kStripes = 8;
  static constexpr std::size_t kSlots = 1024;  // a power of two
  static constexpr std::size_t kMaxCells = 256;

  struct Totals {
    std::array<std::uint64_t, kBuckets> buckets{};
    std::uint64_t nanoseconds = 0;
    std::uint64_t count() const;
    void Add(const Totals& other);
  };
  struct alignas(64) Stripe {
    std::array<std::atomic<std::uint64_t>, kBuckets> buckets{};
    std::atomic<std::uint64_t> nanoseconds{0};
  };
  struct Cell {
    std::string path;
    std::string method;
    int status = 0;
    std::array<Stripe, kStripes> stripes;
    bool Is(std::string_view p, std::string_view m, int s) const {
      return status == s && path == p && method == m;
    }
    Totals Sum() const;
  };

  static std::size_t Hash(std::string_view path, std::string_view method, int status);
  Cell* Find(std::string_view path, std::string_view method, int status) const;
  Cell* FindOrAdd(std::string_view path, std::string_view method, int status);
  static prometheus::MetricFamily RequestFamily(const std::vector<const Cell*>& cells);
  static prometheus::MetricFamily DurationFamily(const std::vector<const Cell*>& cells);
  static prometheus::MetricFamily ExpressFamily(const std::vector<const Cell*>& cells);

  EventgateNames names_;
  std::array<std::atomic<Cell*>, kSlots> slots_{};  // open addressing; cells are only ever added
  mutable std::mutex mutex_;                        // guards adding and cells_
  std::deque<Cell> cells_;
};

}  // namespace sluice::core
