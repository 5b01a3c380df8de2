#include <pthread.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/log.h"
#include "produce/spool_replayer_impl.h"

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kChunkRecords = 256;
constexpr std::uint64_t kWindowBytes = 16u << 20;
constexpr milliseconds kTick{200};
constexpr milliseconds kCheckpointEvery{1000};  // while records are delivered
constexpr std::size_t kMaxRefusing = 1000;      // topics that are remembered

}  // namespace

SpoolReplayer::SpoolReplayer(Options options, SpoolLog& log, SpoolCheckpoint& checkpoint,
                             SpoolAside& aside, SpoolMetrics& metrics, ReplayTarget& target,
                             std::function<void()> request_seal)
    : options_(std::move(options)),
      log_(log),
      checkpoint_(checkpoint),
      aside_(aside),
      metrics_(metrics),
      target_(target),
      request_seal_(std::move(request_seal)) {}

SpoolReplayer::~SpoolReplayer() {
  Stop();
  Finish(steady_clock::now());
}

void SpoolReplayer::Start(const SpoolPosition& done, std::uint64_t ceiling) {
  done_ = next_ = done;
  done_sequence_.store(done.sequence, std::memory_order_relaxed);
  ceiling_ = known_ceiling_ = ceiling;
  sent_end_ = done.sequence;
  thread_ = std::thread([this] { Run(); });
  ::pthread_setname_np(thread_.native_handle(), "sluice-replay");
}

void SpoolReplayer::Notify() {
  const std::lock_guard lock(mutex_);
  notified_ = true;
  wake_.notify_one();
}

void SpoolReplayer::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  notified_ = true;
  wake_.notify_one();
}

void SpoolReplayer::Finish(SteadyTime deadline) {
  {
    const std::lock_guard lock(mutex_);
    finish_by_ = deadline;
    notified_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

std::uint64_t SpoolReplayer::waiting() const {
  const std::uint64_t end = log_.next_sequence();
  const std::uint64_t done = done_sequence_.load(std::memory_order_relaxed);
  return end > done ? end - done : 0;
}

std::string SpoolReplayer::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void SpoolReplayer::SetProblem(std::string text) {
  const std::lock_guard lock(mutex_);
  if (!text.empty() && problem_.empty())
    core::Log(core::LogLevel::kError, "spool_replay_stuck", text);
  problem_ = std::move(text);
}

void SpoolReplayer::Run() {
  for (;;) {
    bool stopping = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kTick, [&] { return notified_; });
      notified_ = false;
      stopping = stopping_;
      if (stopping && (attempts_ == 0 || steady_clock::now() >= finish_by_)) break;
    }
    const SteadyTime now = steady_clock::now();
    Reap(now);
    if (!stopping && now >= resume_at_) {
      if (again_) {
        SendAgain();
      } else {
        Feed(now);
      }
    }
    Tidy(now);
  }
  FinishChunks();
}

// At the end: a chunk of which only the first records were delivered counts for those.
void SpoolReplayer::FinishChunks() {
  Reap(steady_clock::now());
  if (!window_.empty()) {
    const Chunk& chunk = *window_.front();
    SpoolPosition passed = done_;
    std::uint64_t end = done_.offset;
    bool in_a_row = true;
    for (const Chunk::Item& item : chunk.items) {
      end += EncodedSize({.topic = item.topic_name, .record = item.record});
      in_a_row = in_a_row && item.done;
      if (in_a_row) passed = {done_.segment, end, item.sequence + 1};
    }
    // Unless something damaged lies between them.
    if (done_.segment == chunk.end.segment && end == chunk.end.offset) done_ = passed;
  }
  StoreCheckpoint(std::max(sent_end_, done_.sequence));
  std::unique_lock lock(mutex_);
  if (attempts_ == 0) return;
  // Their reports will never come, and the target may still hold them.
  for (auto& chunk : window_) static_cast<void>(chunk.release());
}

// True if nothing of the chunk is left to do.
bool SpoolReplayer::Settle(Chunk& chunk, SteadyTime now) {
  bool all = true;
  for (std::uint32_t i = 0; i < chunk.tried.size(); ++i) {
    Chunk::Item& item = chunk.items[chunk.tried[i]];
    const DeliverySlot& slot = chunk.attempt->slot(i);
    if (slot.state() == DeliverySlot::State::kDelivered) {
      item.done = true;
      metrics_.replayed->Increment();
      replayed_.fetch_add(1, std::memory_order_relaxed);
      if (!refusing_.empty()) refusing_.erase(std::string(item.topic_name));
      continue;
    }
    const bool passes = slot.code == core::ErrorCode::kDeliveryTimeout ||
                        slot.code == core::ErrorCode::kQueueFull ||
                        slot.code == core::ErrorCode::kShuttingDown;
    if (!passes) {
      core::Log(core::LogLevel::kWarn, "spool_record_refused", slot.message,
                {{"topic", item.topic_name}});
      item.done = (slot.code == core::ErrorCode::kRecordTooLarge ||
                   now - refusing_.try_emplace(std::string(item.topic_name), now).first->second >=
                       kPatience) &&
                  SetAside(chunk, chunk.tried[i], now);
    }
    all = all && item.done;
  }
  if (refusing_.size() > kMaxRefusing) refusing_.clear();
  return all;
}

bool SpoolReplayer::SetAside(const Chunk& chunk, std::size_t index, SteadyTime now) {
  const Chunk::Item& item = chunk.items[index];
  const int error = aside_.KeepRefused({.sequence = item.sequence,
                                        .spooled_ms = item.spooled_ms,
                                        .mode = item.mode,
                                        .topic = item.topic_name,
                                        .record = item.record});
  if (error != 0) {
    SetProblem("a record that Kafka refuses cannot be set aside: " + core::ErrnoText(error));
    resume_at_ = now + kReplayBackoff;
    return false;
  }
  metrics_.set_aside->Increment();
  core::Log(core::LogLevel::kError, "spool_record_set_aside",
            "Kafka refuses a spooled record for good; it is in aside/refused.spool",
            {{"topic", item.topic_name}});
  return true;
}

void SpoolReplayer::Reap(SteadyTime now) {
  for (auto& chunk : window_) {
    bool reported = false;
    {
      const std::lock_guard lock(mutex_);
      reported = std::exchange(chunk->reported, false);
    }
    if (!reported) continue;
    chunk->settled = Settle(*chunk, now);
    chunk->attempt.reset();
    if (!chunk->settled && !again_) {
      again_ = true;
      resume_at_ = std::max(resume_at_, now + kReplayBackoff);
    }
  }
  while (!window_.empty() && window_.front()->settled) {
    const Chunk& chunk = *window_.front();
    done_ = chunk.end;
    in_flight_ -= chunk.items.size();
    in_flight_bytes_ -= chunk.bytes.size();
    window_.pop_front();
  }
  done_sequence_.store(done_.sequence, std::memory_order_relaxed);
}

// Once nothing is on its way any more, what failed goes again, in order.
void SpoolReplayer::SendAgain() {
  {
    const std::lock_guard lock(mutex_);
    if (attempts_ > 0) return;
  }
  again_ = false;
  for (auto& chunk : window_) {
    if (!chunk->settled) Send(*chunk);
  }
}

std::size_t SpoolReplayer::Allowance(SteadyTime now) {
  if (options_.rate <= 0) return kChunkRecords;
  const double elapsed = std::chrono::duration<double>(now - tokens_at_).count();
  tokens_at_ = now;
  tokens_ = std::min(tokens_ + elapsed * options_.rate, std::max(1.0, options_.rate * 0.25));
  return std::min(kChunkRecords, static_cast<std::size_t>(tokens_));
}

void SpoolReplayer::Feed(SteadyTime now) {
  const auto window = static_cast<std::size_t>(options_.window);
  while (in_flight_ < window && in_flight_bytes_ < kWindowBytes) {
    if (held_ == nullptr) {
      const std::size_t most = std::min(Allowance(now), window - in_flight_);
      if (most == 0) return;
      held_ = std::make_unique<Chunk>();
      if (!ReadChunk(*held_, most)) {
        held_.reset();
        return;
      }
      tokens_ -= static_cast<double>(held_->items.size());
    }
    if (!Admit(*held_)) return;
    in_flight_ += held_->items.size();
    in_flight_bytes_ += held_->bytes.size();
    window_.push_back(std::move(held_));
    Send(*window_.back());
    if (again_) return;
  }
}

// Whether a start would know that the records of the chunk may have been sent.
bool SpoolReplayer::Admit(const Chunk& chunk) {
  if (chunk.items.empty() || chunk.items.back().sequence < ceiling_) return true;
  if (StoreCheckpoint(chunk.items.back().sequence + 1 +
                      static_cast<std::uint64_t>(options_.window)))
    return true;
  resume_at_ = steady_clock::now() + kReplayBackoff;
  return false;
}

void SpoolReplayer::Send(Chunk& chunk) {
  chunk.tried.clear();
  for (std::size_t i = 0; i < chunk.items.size(); ++i) {
    if (!chunk.items[i].done) chunk.tried.push_back(i);
  }
  if (chunk.tried.empty()) {
    chunk.settled = true;
    const std::lock_guard lock(mutex_);
    notified_ = true;
    return;
  }
  sent_end_ = std::max(sent_end_, chunk.items.back().sequence + 1);
  chunk.attempt = std::make_unique<Attempt>(*this, chunk);
  chunk.attempt->Reserve(static_cast<std::uint32_t>(chunk.tried.size()));
  {
    const std::lock_guard lock(mutex_);
    ++attempts_;
  }
  for (const std::size_t i : chunk.tried)
    target_.Replay(*chunk.items[i].topic, chunk.items[i].record, chunk.attempt->Add());
  chunk.attempt->Seal();
}

bool SpoolReplayer::StoreCheckpoint(std::uint64_t ceiling) {
  if (int error = checkpoint_.Store(done_, ceiling); error != 0) {
    metrics_.failures->Increment();
    SetProblem("the spool's checkpoint cannot be written: " + core::ErrnoText(error));
    return false;
  }
  ceiling_ = ceiling;
  checkpoint_at_ = steady_clock::now();
  SetProblem({});
  return true;
}

// Segments that are replayed whole go, once a checkpoint behind them is on disk.
void SpoolReplayer::PassSegments() {
  for (;;) {
    const auto first = log_.From(0);
    if (!first) return;
    if (first->number >= done_.segment) return;
    if (checkpoint_.current().done.segment <= first->number && !StoreCheckpoint(ceiling_)) return;
    if (int error = log_.Remove(first->number); error != 0)
      return SetProblem("a replayed segment cannot be removed: " + core::ErrnoText(error));
  }
}

void SpoolReplayer::Tidy(SteadyTime now) {
  PassSegments();
  const bool drained = window_.empty() && held_ == nullptr && waiting() == 0;
  const SpoolPosition& stored = checkpoint_.current().done;
  if ((stored.sequence != done_.sequence || stored.segment != done_.segment) &&
      now - checkpoint_at_ >= kCheckpointEvery)
    StoreCheckpoint(drained ? done_.sequence : ceiling_);
  if (!drained) {
    drained_at_ = now;
  } else if (log_.segments() > 0 && now - drained_at_ >= kCheckpointEvery) {
    request_seal_();
  }
  std::int64_t oldest = 0;
  if (!window_.empty() && !window_.front()->items.empty()) {
    oldest = window_.front()->items.front().spooled_ms;
  } else if (waiting() > 0) {
    if (const auto segment = log_.From(done_.segment)) oldest = segment->first_ms;
  }
  oldest_ms_.store(oldest, std::memory_order_relaxed);
  metrics_.oldest_seconds->Set(
      oldest == 0 ? 0 : static_cast<double>(options_.now_ms() - oldest) / 1000);
  metrics_.in_flight->Set(static_cast<double>(in_flight_));
  metrics_.bytes->Set(static_cast<double>(log_.bytes() + aside_.bytes()));
  metrics_.segments->Set(static_cast<double>(log_.segments()));
}

}  // namespace sluice::produce
