#include "produce/spool_replayer.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "core/log.h"

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kChunkRecords = 256;
constexpr std::size_t kChunkBytes = 1u << 20;
constexpr std::uint64_t kWindowBytes = 16u << 20;
constexpr milliseconds kTick{200};
constexpr milliseconds kBackoff{1000};          // after a failure
constexpr milliseconds kCheckpointEvery{1000};  // while records are delivered
constexpr int kMaxReadFailures = 3;
constexpr std::size_t kMaxRefusing = 1000;  // topics that are remembered

// The beginning of the one that follows, whatever could be read of it.
SpoolPosition EndOf(const SpoolLog::Segment& segment) {
  return {.segment = segment.number + 1, .sequence = segment.first_sequence + segment.records};
}

std::string Text(int error) { return std::error_code(error, std::generic_category()).message(); }

}  // namespace

// Some records in a row, and how far they are.
struct SpoolReplayer::Chunk {
  struct Item {
    Topic* topic = nullptr;
    std::string_view topic_name;
    Record record;
    std::uint64_t sequence = 0;
    std::int64_t spooled_ms = 0;
    DeliveryMode mode = DeliveryMode::kHasty;
    bool done = false;  // delivered or set aside
  };
  std::string bytes;  // what the items view
  std::vector<Item> items;
  SpoolPosition end;
  std::unique_ptr<Attempt> attempt;
  std::vector<std::size_t> tried;  // tried[i] is the item of slot i
  bool reported = false;           // all slots are done; under the replayer's mutex
  bool settled = false;            // nothing is left to do
};

// The records of a chunk on their way, once.
class SpoolReplayer::Attempt final : public Delivery {
 public:
  Attempt(SpoolReplayer& replayer, Chunk& chunk) : replayer_(replayer), chunk_(chunk) {}

 private:
  // The chunk may be gone as soon as the lock is free.
  void OnAllDone() override {
    SpoolReplayer& replayer = replayer_;
    {
      const std::lock_guard lock(replayer.mutex_);
      chunk_.reported = true;
      --replayer.attempts_;
      replayer.notified_ = true;
      replayer.wake_.notify_one();
    }
  }

  SpoolReplayer& replayer_;
  Chunk& chunk_;
};

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
    SetProblem("a record that Kafka refuses cannot be set aside: " + Text(error));
    resume_at_ = now + kBackoff;
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
      resume_at_ = std::max(resume_at_, now + kBackoff);
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

// Has the reader at the first segment from `next_` on; false if there is none.
bool SpoolReplayer::OpenReader() {
  if (reader_ != nullptr) return true;
  const auto segment = log_.From(next_.segment);
  if (!segment) return false;
  if (segment->number != next_.segment)
    next_ = {.segment = segment->number, .sequence = segment->first_sequence};
  std::unique_ptr<AppendFile> file;
  if (int error = log_.OpenSegment(segment->number, &file); error != 0) {
    SetProblem("the spool's segment " + std::to_string(segment->number) +
               " cannot be opened: " + Text(error));
    resume_at_ = steady_clock::now() + kBackoff;
    return false;
  }
  reader_ = std::make_unique<SpoolReader>(std::move(file), segment->salt, next_.offset);
  return true;
}

// Reads up to `most` records of one segment; false if there is nothing to read now.
bool SpoolReplayer::ReadChunk(Chunk& chunk, std::size_t most) {
  if (!OpenReader()) return false;
  auto segment = log_.From(next_.segment);
  if (!segment || segment->number != next_.segment) return false;
  const std::uint64_t begin = next_.offset;
  struct Place {
    std::size_t topic, key, value;  // offsets in `bytes`
  };
  std::vector<Place> places;
  SpoolRecord record;
  bool failed = false;
  while (chunk.items.size() < most && chunk.bytes.size() < kChunkBytes) {
    const SpoolReader::Step step = reader_->Next(segment->data_end, &record);
    failed = step == SpoolReader::Step::kFailed;
    if (step == SpoolReader::Step::kDamaged) OnDamage();
    if (failed || step == SpoolReader::Step::kEnd) break;
    if (step == SpoolReader::Step::kDamaged) continue;
    places.push_back({chunk.bytes.size(), chunk.bytes.size() + record.topic.size(),
                      chunk.bytes.size() + record.topic.size() + record.record.key.size()});
    chunk.bytes.append(record.topic).append(record.record.key).append(record.record.value);
    chunk.items.push_back({.topic_name = record.topic,
                           .record = record.record,
                           .sequence = record.sequence,
                           .spooled_ms = record.spooled_ms,
                           .mode = record.mode});
    next_.sequence = record.sequence + 1;
    if (record.sequence < known_ceiling_ || record.written == Written::kPerhaps)
      metrics_.duplicates->Increment();
  }
  const std::string_view bytes = chunk.bytes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Chunk::Item& item = chunk.items[i];
    item.topic_name = bytes.substr(places[i].topic, item.topic_name.size());
    item.record.key = bytes.substr(places[i].key, item.record.key.size());
    item.record.value = bytes.substr(places[i].value, item.record.value.size());
    item.topic = target_.OpenTopic(item.topic_name);
  }
  next_.offset = reader_->offset();
  if (failed) OnUnreadable();
  if (!failed) read_failures_ = 0;
  if (segment->sealed && reader_ != nullptr && next_.offset >= segment->data_end) {
    reader_.reset();
    next_ = EndOf(*segment);
    chunk.end = next_;
    return true;
  }
  chunk.end = next_;
  return next_.offset != begin;
}

void SpoolReplayer::OnDamage() {
  metrics_.damaged->Increment();
  const std::uint64_t begin = reader_->damaged_begin();
  const int error = aside_.KeepDamaged(next_.segment, reader_->file(), begin, reader_->offset());
  core::Log(core::LogLevel::kError, "spool_damaged",
            error == 0
                ? "A part of a spool segment is damaged; it was set aside."
                : "A part of a spool segment is damaged and cannot be set aside: " + Text(error),
            {{"segment", static_cast<std::int64_t>(next_.segment)},
             {"offset", static_cast<std::int64_t>(begin)},
             {"bytes", static_cast<std::int64_t>(reader_->offset() - begin)}});
}

// A disk that does not give a segment must not hold up the others for ever.
void SpoolReplayer::OnUnreadable() {
  const std::uint64_t number = next_.segment;
  const std::string text = "the spool's segment " + std::to_string(number) +
                           " cannot be read: " + Text(reader_->error());
  resume_at_ = steady_clock::now() + kBackoff;
  reader_.reset();
  SetProblem(text);
  if (++read_failures_ < kMaxReadFailures) return;
  read_failures_ = 0;
  metrics_.damaged->Increment();
  const auto segment = log_.From(number);
  if (int error = log_.Move(number, aside_.UnreadablePath(number)); error != 0)
    return SetProblem(text + ", nor be set aside: " + Text(error));
  core::Log(core::LogLevel::kError, "spool_damaged", "A segment was set aside: " + text);
  if (segment) next_ = EndOf(*segment);
}

// Whether a start would know that the records of the chunk may have been sent.
bool SpoolReplayer::Admit(const Chunk& chunk) {
  if (chunk.items.empty() || chunk.items.back().sequence < ceiling_) return true;
  if (StoreCheckpoint(chunk.items.back().sequence + 1 +
                      static_cast<std::uint64_t>(options_.window)))
    return true;
  resume_at_ = steady_clock::now() + kBackoff;
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
    SetProblem("the spool's checkpoint cannot be written: " + Text(error));
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
      return SetProblem("a replayed segment cannot be removed: " + Text(error));
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
