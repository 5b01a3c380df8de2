#include "produce/spool.h"

#include <cerrno>
#include <system_error>

#include "core/log.h"

namespace sluice::produce {
namespace {

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Spool::Spool(const core::SpoolOptions& options, const std::string& folder, FileOps& ops,
             core::Metrics& metrics, std::chrono::milliseconds retry_every)
    : options_(options),
      folder_(folder),
      ops_(ops),
      metrics_(metrics),
      log_({.folder = folder,
            .segment_bytes = options.segment_bytes,
            .fsync = options.fsync,
            .now_ms = &NowMs},
           ops),
      aside_(ops, folder),
      writer_({.log = log_,
               .spool_metrics = metrics_,
               .metrics = metrics,
               .open = [this] { return Open(); },
               .on_written =
                   [this] {
                     if (replaying_.load(std::memory_order_acquire)) replayer_->Notify();
                   }},
              retry_every) {}

Spool::~Spool() {
  StopReplay();
  Finish(std::chrono::steady_clock::now());
}

void Spool::Start(ReplayTarget& target) {
  target_ = &target;
  writer_.Start();
}

// By the writer, at the start and again until it works.
std::string Spool::Open() {
  const auto failed = [&](std::string_view what, int error) {
    return "the spool " + folder_ + " cannot be used, " + std::string(what) + " failed (" +
           std::error_code(error, std::generic_category()).message() +
           "): set spool.dir to a folder that this user may write, or spool.mode: off";
  };
  if (int error = ops_.CreateFolders(folder_); error != 0) return failed("making it", error);
  if (!locked_) {
    if (int error = ops_.LockFolder(folder_); error == EWOULDBLOCK)
      return "another process uses the spool " + folder_ +
             ": stop it, or set spool.dir to a folder of this one's own";
    else if (error != 0)
      return failed("locking it", error);
    locked_ = true;
  }
  if (int error = checkpoint_.Open(ops_, folder_); error != 0)
    return failed("opening its checkpoint", error);
  SpoolPosition done = checkpoint_.current().done;
  SpoolLog::Recovery recovery;
  if (int error = log_.Open(&done, &recovery); error != 0)
    return failed("reading its segments", error);
  if (int error = aside_.Open(); error != 0) return failed("making its folder aside", error);
  metrics_.torn_bytes->Increment(static_cast<double>(recovery.torn_bytes));
  std::uint64_t ceiling = checkpoint_.current().ceiling;
  if (checkpoint_.found() == SpoolCheckpoint::Found::kDamaged) {
    ceiling = log_.next_sequence();
    metrics_.damaged->Increment();
    core::Log(core::LogLevel::kError, "spool_damaged",
              "The spool's checkpoint is damaged: all of its records are sent once more.");
  }
  replayer_ = std::make_unique<SpoolReplayer>(
      SpoolReplayer::Options{
          .rate = options_.replay_rate, .window = options_.replay_window, .now_ms = &NowMs},
      log_, checkpoint_, aside_, metrics_, *target_, [this] { writer_.RequestSeal(); });
  replayer_->Start(done, ceiling);
  replaying_.store(true, std::memory_order_release);
  if (const std::uint64_t waiting = replayer_->waiting(); waiting > 0) {
    core::Log(core::LogLevel::kInfo, "spool_opened", "The spool has records to replay.",
              {{"records", static_cast<std::int64_t>(waiting)},
               {"bytes", static_cast<std::int64_t>(log_.bytes())},
               {"torn_bytes", static_cast<std::int64_t>(recovery.torn_bytes)}});
  }
  return {};
}

bool Spool::IsFull() const {
  if (log_.bytes() + aside_.bytes() + writer_.queued_bytes() >= options_.max_bytes) return true;
  if (options_.max_age.count() == 0 || !replaying_.load(std::memory_order_acquire)) return false;
  const std::int64_t oldest = replayer_->oldest_ms();
  return oldest != 0 && NowMs() - oldest > options_.max_age.count();
}

bool Spool::Take(const Spilled& spilled, DeliverySlot* slot) {
  if (!Covers(spilled.mode)) return false;
  if (IsFull()) {
    metrics_.refused->Increment();
    core::Log(core::LogLevel::kWarn, "spool_full", trouble());
    return false;
  }
  SpoolWriter::Item item;
  item.record.mode = spilled.mode;
  item.record.written = spilled.written;
  item.record.record = spilled.record;
  item.topic = spilled.topic;
  item.record.topic = spilled.topic;
  item.key = spilled.record.key;
  item.slot = slot;
  item.code = spilled.code;
  item.message = spilled.message;
  if (writer_.Put(std::move(item))) return true;
  metrics_.refused->Increment();
  return false;
}

SpoolState Spool::state() const {
  if (!writer_.problem().empty()) return SpoolState::kBroken;
  return IsFull() ? SpoolState::kFull : SpoolState::kOn;
}

std::string Spool::trouble() const {
  switch (state()) {
    case SpoolState::kOff:
    case SpoolState::kOn:
      break;
    case SpoolState::kBroken:
      return writer_.problem();
    case SpoolState::kFull:
      return "the spool is full (" + std::to_string(log_.bytes() + aside_.bytes()) +
             " bytes, spool.max_bytes is " + std::to_string(options_.max_bytes) +
             ", spool.max_age " + std::to_string(options_.max_age.count()) + " ms)";
  }
  return replaying_.load(std::memory_order_acquire) ? replayer_->problem() : std::string();
}

void Spool::StopReplay() {
  if (!lost_before_) lost_before_ = writer_.hasty_failed();
  if (replaying_.load(std::memory_order_acquire)) replayer_->Stop();
}

Spool::Report Spool::Finish(std::chrono::steady_clock::time_point deadline) {
  writer_.Stop();
  Report report;
  report.written = writer_.written();
  report.lost = writer_.hasty_failed() - lost_before_.value_or(0);
  if (!replaying_.load(std::memory_order_acquire)) return report;
  replayer_->Stop();
  replayer_->Finish(deadline);
  report.replayed = replayer_->replayed();
  report.waiting = replayer_->waiting();
  return report;
}

std::uint64_t Spool::waiting() const {
  return replaying_.load(std::memory_order_acquire) ? replayer_->waiting() : 0;
}

}  // namespace sluice::produce
