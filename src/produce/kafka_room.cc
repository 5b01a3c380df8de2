#include "produce/kafka_room.h"

#include <algorithm>
#include <cmath>

namespace sluice::produce {
namespace {

constexpr std::chrono::milliseconds kMeasureTime{1000};
constexpr double kWeightOfNew = 0.3;  // what was ten seconds ago counts for 3 %
constexpr std::int64_t kLongestSeconds = 60;

}  // namespace

KafkaRoom::KafkaRoom(const Options& options)
    : options_(options),
      admitted_(options.bound / 100 * static_cast<std::uint64_t>(options.admit_percent) +
                options.bound % 100 * static_cast<std::uint64_t>(options.admit_percent) / 100) {}

KafkaRoom::Answer KafkaRoom::Take(Bytes& of_topic, std::uint64_t bytes) {
  // Added first and taken back: two threads cannot both take the last room. The release publishes
  // what the caller wrote to the thread that will take the report.
  const std::uint64_t before = bytes_.fetch_add(bytes, std::memory_order_acq_rel);
  if (before + bytes > admitted_) {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return Answer::kFull;
  }
  const std::uint64_t free = admitted_ - before - bytes;
  const std::uint64_t mine = of_topic.fetch_add(bytes, std::memory_order_relaxed);
  const auto share = static_cast<std::uint64_t>(options_.topic_share_percent);
  // A topic with nothing queued is let in wherever there is room at all.
  if (mine == 0 || mine + bytes <= free / 100 * share + free % 100 * share / 100)
    return Answer::kTaken;
  GiveBack(of_topic, bytes);
  return Answer::kShareUsed;
}

void KafkaRoom::GiveBack(Bytes& of_topic, std::uint64_t bytes) {
  of_topic.fetch_sub(bytes, std::memory_order_relaxed);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

bool KafkaRoom::IsFilledTo(int percent) const {
  return bytes() >= options_.bound / 100 * static_cast<std::uint64_t>(percent);
}

void KafkaRoom::Measure(Time now) {
  const std::uint64_t delivered = delivered_.load(std::memory_order_relaxed);
  if (measured_at_ == Time{}) {
    measured_at_ = now;
    measured_ = delivered;
    return;
  }
  if (now - measured_at_ < kMeasureTime) return;
  const double seconds = std::chrono::duration<double>(now - measured_at_).count();
  const double rate = static_cast<double>(delivered - measured_) / seconds;
  const double before = bytes_per_second_.load(std::memory_order_relaxed);
  bytes_per_second_.store(
      before == 0 ? rate : before + (rate - before) * std::min(1.0, kWeightOfNew * seconds),
      std::memory_order_relaxed);
  measured_at_ = now;
  measured_ = delivered;
}

std::chrono::seconds KafkaRoom::DrainTime() const {
  const double rate = bytes_per_second_.load(std::memory_order_relaxed);
  const auto queued = static_cast<double>(bytes());
  if (queued >= rate * static_cast<double>(kLongestSeconds)) {
    return std::chrono::seconds(queued == 0 ? 1 : kLongestSeconds);
  }
  return std::chrono::seconds(std::max<std::int64_t>(1, std::llround(std::ceil(queued / rate))));
}

}  // namespace sluice::produce
