#include "produce/spool_writer.h"

#include <pthread.h>

#include <array>

#include <system_error>
#include <utility>

#include "core/log.h"

namespace sluice::produce {

using std::chrono::steady_clock;

SpoolWriter::~SpoolWriter() { Stop(); }

void SpoolWriter::Start() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
  }
  TryAgain();
  thread_ = std::thread([this] { Run(); });
  ::pthread_setname_np(thread_.native_handle(), "sluice-spool");
}

bool SpoolWriter::Put(Item&& item) {
  const std::uint64_t size = EncodedSize(item.record);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || !problem_.empty()) return false;
    queue_.push_back(std::move(item));
    queued_bytes_.fetch_add(size, std::memory_order_relaxed);
    if (queue_.size() > 1) return true;
  }
  wake_.notify_one();
  return true;
}

void SpoolWriter::RequestSeal() {
  {
    const std::lock_guard lock(mutex_);
    seal_ = true;
  }
  wake_.notify_one();
}

void SpoolWriter::Run() {
  std::vector<Item> items;
  for (;;) {
    bool seal = false;
    bool broken = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, retry_every_, [&] { return stopping_ || seal_ || !queue_.empty(); });
      items.swap(queue_);
      if (items.empty() && stopping_) break;
      seal = std::exchange(seal_, false);
      broken = !problem_.empty();
    }
    if (!items.empty()) Commit(items);
    items.clear();
    if (broken && steady_clock::now() >= retry_at_) TryAgain();
    if (seal && !broken && opened_) parts_.log.Seal();
  }
  if (opened_) parts_.log.Seal();
}

void SpoolWriter::Commit(std::vector<Item>& items) {
  if (const std::string known = problem(); !known.empty()) return Fail(items, 0, known);
  const auto start = steady_clock::now();
  records_.clear();
  for (Item& item : items) {
    item.record.topic = item.topic;
    item.record.record.key = item.key;
    records_.push_back(item.record);
  }
  std::size_t kept = 0;
  const int error = parts_.log.Append(records_, &kept);
  std::array<std::size_t, 2> by_mode{};
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    ++by_mode[static_cast<std::size_t>(items[i].record.mode)];
    bytes += EncodedSize(records_[i]);
  }
  queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  for (std::size_t mode = 0; mode < by_mode.size(); ++mode)
    parts_.spool_metrics.written[mode]->Increment(static_cast<double>(by_mode[mode]));
  parts_.spool_metrics.commit_seconds->Observe(
      std::chrono::duration<double>(steady_clock::now() - start).count());
  parts_.metrics.RecordsSpooled(kept);
  written_.fetch_add(kept, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kept; ++i)
    Delivery::CompleteDelivered(items[i].slot, Durability::kSpool);
  if (kept > 0) parts_.on_written();
  if (error == 0) return;
  const std::string problem = "the spool cannot be written (" +
                              std::error_code(error, std::generic_category()).message() +
                              "): check the disk of spool.dir";
  SetProblem(problem);
  Fail(items, kept, problem);
}

void SpoolWriter::Fail(std::vector<Item>& items, std::size_t from, const std::string& problem) {
  parts_.metrics.RecordsFailed(items.size() - from);
  for (std::size_t i = from; i < items.size(); ++i) {
    Item& item = items[i];
    queued_bytes_.fetch_sub(EncodedSize(item.record), std::memory_order_relaxed);
    parts_.spool_metrics.refused->Increment();
    if (item.record.mode == DeliveryMode::kHasty)
      hasty_failed_.fetch_add(1, std::memory_order_relaxed);
    Delivery::CompleteFailed(item.slot, item.code, item.message + "; " + problem);
  }
}

void SpoolWriter::SetProblem(const std::string& problem) {
  parts_.spool_metrics.failures->Increment();
  retry_at_ = steady_clock::now() + retry_every_;
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) core::Log(core::LogLevel::kError, "spool_broken", problem);
  problem_ = problem;
}

void SpoolWriter::TryAgain() {
  std::string problem;
  if (!opened_) {
    problem = parts_.open();
    opened_ = problem.empty();
  } else if (int error = parts_.log.Probe(); error != 0) {
    problem = "the spool still cannot be written: " +
              std::error_code(error, std::generic_category()).message();
  }
  if (!problem.empty()) return SetProblem(problem);
  const std::lock_guard lock(mutex_);
  if (!problem_.empty() && thread_.joinable())
    core::Log(core::LogLevel::kInfo, "spool_works_again", "The spool takes events again.");
  problem_.clear();
}

void SpoolWriter::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::string SpoolWriter::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace sluice::produce
