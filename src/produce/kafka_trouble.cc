#include "produce/kafka_trouble.h"

#include <utility>

#include "core/log.h"

namespace sluice::produce {
namespace {

constexpr std::chrono::milliseconds kAskInterval{1000};

}  // namespace

void KafkaTrouble::Set(std::string text) {
  const std::lock_guard lock(mutex_);
  if (text_.empty()) {
    core::Log(core::LogLevel::kError, "kafka_unreachable", text,
              {{"producer_type", producer_type_}});
  }
  text_ = std::move(text);
  bad_.store(true, std::memory_order_relaxed);
}

void KafkaTrouble::Clear() {
  if (!bad_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (text_.empty()) return;
  core::Log(core::LogLevel::kInfo, "kafka_reachable", "Kafka is reachable again",
            {{"producer_type", producer_type_}});
  text_.clear();
  bad_.store(false, std::memory_order_relaxed);
}

std::string KafkaTrouble::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

bool KafkaTrouble::AskAgain(std::chrono::steady_clock::time_point now) {
  if (!bad_.load(std::memory_order_relaxed) || now - asked_ < kAskInterval) return false;
  asked_ = now;
  return true;
}

}  // namespace sluice::produce
