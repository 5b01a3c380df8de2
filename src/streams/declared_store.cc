#include "streams/declared_store.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/iso_time.h"
#include "core/json_text.h"
#include "core/log.h"
#include "core/read_file.h"

namespace sluice::streams {
namespace {

using Action = DeclaredChange::Action;
using Kind = DeclaredOutcome::Kind;
using std::chrono::milliseconds;

constexpr milliseconds kNothingExpires{3600 * 1000};
// Longer waits would miss that the wall clock was set.
constexpr milliseconds kLongestWait{1000};
constexpr std::size_t kMaxQueuedAuditBytes = 1u << 20;
// A journal with this many lines more than twice what they amount to is written anew.
constexpr std::size_t kSpareLines = 1000;

bool IsExpired(const Declaration& declaration, WallTime now) {
  return declaration.expires_at && *declaration.expires_at <= now;
}

bool IsDone(Kind kind) {
  return kind == Kind::kCreated || kind == Kind::kReplaced || kind == Kind::kDeleted;
}

struct AuditLine {
  WallTime time;
  std::string_view by;
  std::string_view peer;
  std::string_view action;
  std::string_view stream;
  std::string_view outcome;
  std::uint64_t version = 0;  // 0: none
  std::string_view detail = {};
};

void AppendMember(std::string& out, std::string_view name, std::string_view value) {
  out += out.back() == '{' ? "\"" : ",\"";
  out += name;
  out += "\":";
  core::AppendJsonString(out, value);
}

std::string ToText(const AuditLine& line) {
  std::string out = "{";
  AppendMember(out, "time", core::FormatIsoTime(line.time));
  AppendMember(out, "by", line.by);
  AppendMember(out, "peer", line.peer);
  AppendMember(out, "action", line.action);
  AppendMember(out, "stream", line.stream);
  AppendMember(out, "outcome", line.outcome);
  if (line.version > 0) out += ",\"version\":" + std::to_string(line.version);
  if (!line.detail.empty()) AppendMember(out, "detail", line.detail);
  return out + "}\n";
}

std::string_view ToString(Action action) { return action == Action::kPut ? "put" : "delete"; }

bool Holds(const DeclaredCondition& condition, const DeclarationPtr& current) {
  switch (condition.kind) {
    case DeclaredCondition::Kind::kNone:
      return true;
    case DeclaredCondition::Kind::kAbsent:
      return !current;
    case DeclaredCondition::Kind::kPresent:
      return current != nullptr;
    case DeclaredCondition::Kind::kVersion:
      return current && std::find(condition.versions.begin(), condition.versions.end(),
                                  current->version) != condition.versions.end();
  }
  return false;
}

DeclarationPtr Lookup(const std::map<std::string, DeclarationPtr, std::less<>>& streams,
                      std::string_view name) {
  const auto found = streams.find(name);
  return found == streams.end() ? nullptr : found->second;
}

}  // namespace

std::string_view ToString(DeclaredOutcome::Kind kind) {
  switch (kind) {
    case Kind::kCreated:
      return "created";
    case Kind::kReplaced:
      return "replaced";
    case Kind::kDeleted:
      return "deleted";
    case Kind::kAbsent:
      return "absent";
    case Kind::kStaticEntry:
      return "static_entry";
    case Kind::kCondition:
      return "condition_failed";
    case Kind::kTooMany:
      return "too_many";
    case Kind::kNoSpace:
      return "no_space";
    case Kind::kStorageFailed:
      return "storage_failed";
    case Kind::kStopping:
      return "stopping";
  }
  return {};
}

DeclaredStore::DeclaredStore(Parts parts) : parts_(std::move(parts)) {}
DeclaredStore::~DeclaredStore() { Stop(); }

core::Result<void> DeclaredStore::Start() {
  std::string content;
  if (const int error = parts_.journal->Load(&content)) {
    return core::Error{
        core::ErrorCode::kInternal,
        error == EWOULDBLOCK
            ? "another process has the declared streams of this data_dir"
            : "the declared streams in data_dir cannot be read: " + core::ErrnoText(error)};
  }
  JournalReading reading = ReadJournal(content);
  state_ = std::move(reading.state);
  journal_lines_ = reading.lines;
  if (reading.damaged > 0) {
    const std::string suffix =
        ".damaged-" + std::to_string(std::chrono::duration_cast<milliseconds>(
                                         parts_.clock.Now().time_since_epoch())
                                         .count());
    parts_.journal->KeepCopy(suffix);
    damage_ = std::to_string(reading.damaged) +
              " lines of the journal were damaged and are left out; it is kept as *" + suffix;
    core::Log(core::LogLevel::kError, "declared_streams_damaged", damage_);
  } else if (reading.torn_bytes > 0) {
    core::Log(core::LogLevel::kWarn, "declared_streams_torn",
              "The journal of declared streams ended in a write that was cut off; it was not "
              "acknowledged.",
              {{"bytes", static_cast<std::int64_t>(reading.torn_bytes)}});
  }
  const Batch expired = RemoveExpired();
  audit_queue_ = expired.audit;
  if (expired.lines > 0 || reading.damaged > 0 || reading.torn_bytes > 0) {
    rewrite_ = parts_.journal->Replace(JournalOf(state_)) != 0;  // then with the first change
    journal_lines_ = state_.streams.size() + 1;
  }
  Adopt(std::move(state_));
  thread_ = std::thread([this] { Run(); });
  return {};
}

void DeclaredStore::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DeclaredStore::Submit(DeclaredChange change, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      queue_.push_back({std::move(change), std::move(done), {}, 0});
      done = nullptr;
    }
  }
  if (done) return done({Kind::kStopping, nullptr, "the process is stopping"});
  wake_.notify_one();
}

void DeclaredStore::AuditRefusal(const DeclaredChange& change, std::string_view outcome) {
  const std::string line = ToText(
      {parts_.clock.Now(), change.by, change.peer, ToString(change.action), change.name, outcome});
  {
    const std::lock_guard lock(mutex_);
    if (audit_queue_.size() + line.size() > kMaxQueuedAuditBytes) return;  // the disk is far behind
    audit_queue_ += line;
  }
  wake_.notify_one();
}

DeclarationPtr DeclaredStore::Find(std::string_view name) const {
  DeclarationPtr found;
  {
    const std::lock_guard lock(mutex_);
    found = Lookup(published_, name);
  }
  return found && IsExpired(*found, parts_.clock.Now()) ? nullptr : found;
}

std::vector<DeclarationPtr> DeclaredStore::List() const {
  const WallTime now = parts_.clock.Now();
  std::vector<DeclarationPtr> list;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, declaration] : published_) {
    if (!IsExpired(*declaration, now)) list.push_back(declaration);
  }
  return list;
}

std::string DeclaredStore::trouble() const {
  const std::lock_guard lock(mutex_);
  return failure_.empty() ? damage_ : failure_;
}

std::uint64_t DeclaredStore::commits() const {
  const std::lock_guard lock(mutex_);
  return commits_;
}

void DeclaredStore::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, TimeToExpiry(),
                   [this] { return stopping_ || !queue_.empty() || !audit_queue_.empty(); });
    std::vector<Waiting> waiting = std::exchange(queue_, {});
    const std::string audit = std::exchange(audit_queue_, {});
    const bool stopping = stopping_;
    lock.unlock();
    if (stopping) {
      for (Waiting& each : waiting)
        each.done({Kind::kStopping, nullptr, "the process is stopping"});
      waiting.clear();
    }
    Batch batch = RemoveExpired();
    if (batch.lines > 0) Adopt(std::move(state_));
    batch.audit.insert(0, audit);
    RunBatch(std::move(waiting), std::move(batch));
    lock.lock();
  }
}

// The audit file comes first: a change that is not in it must not happen. Should the journal then
// fail, a second line takes the first one back.
void DeclaredStore::RunBatch(std::vector<Waiting> waiting, Batch batch) {
  if (!waiting.empty() || batch.lines > 0) batch.state = state_;
  for (Waiting& each : waiting) Decide(each, batch);
  int error = batch.audit.empty() ? 0 : parts_.audit->Append(batch.audit);
  if (error != 0 && batch.lines == 0) {
    core::Log(core::LogLevel::kError, "declared_streams_audit_failed",
              "The audit file of declared streams cannot be written: " + core::ErrnoText(error));
    error = 0;  // only refusals are missing in it
  }
  if (batch.lines > 0) {
    if (error == 0) error = Commit(batch);
    if (error == 0) Adopt(std::move(batch.state));
  }
  if (error != 0) Fail(waiting, error);
  for (Waiting& each : waiting) each.done(std::move(each.outcome));
}

// All of them, also those that were refused: what they were held against is not so.
void DeclaredStore::Fail(std::vector<Waiting>& waiting, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const std::string detail = "the declaration could not be made durable in data_dir (" +
                             core::ErrnoText(error) + "); nothing was changed";
  core::Log(core::LogLevel::kError, "declared_streams_not_durable", detail);
  std::string audit;
  for (Waiting& each : waiting) {
    const auto& change = each.change;
    if (each.version > 0) {
      audit += ToText({parts_.clock.Now(), change.by, change.peer, ToString(change.action),
                       change.name, "failed", each.version, detail});
    }
    each.outcome = {full ? Kind::kNoSpace : Kind::kStorageFailed, nullptr, detail};
  }
  parts_.audit->Append(audit);
  const std::lock_guard lock(mutex_);
  failure_ = detail;
}

void DeclaredStore::Decide(Waiting& waiting, Batch& batch) const {
  const DeclaredChange& change = waiting.change;
  const DeclarationPtr current = Lookup(batch.state.streams, change.name);
  const auto static_key = parts_.static_entry(change.name);
  // A declaration that a static entry has overtaken meanwhile can still be taken back.
  if (static_key && (change.action == Action::kPut || !current)) {
    waiting.outcome = {Kind::kStaticEntry, nullptr,
                       "the entry " + *static_key +
                           " of the stream configuration has this name; it can only be changed "
                           "there"};
  } else if (!Holds(change.condition, current)) {
    waiting.outcome = {Kind::kCondition, current,
                       current ? "the stream is declared in another version than the condition says"
                               : "the stream is not declared"};
  } else if (change.action == Action::kPut) {
    DecidePut(waiting, batch);
  } else {
    DecideDelete(waiting, batch);
  }
  const auto& outcome = waiting.outcome;
  if (IsDone(outcome.kind)) waiting.version = batch.state.last_version;
  batch.audit += ToText({parts_.clock.Now(), change.by, change.peer, ToString(change.action),
                         change.name, ToString(outcome.kind), waiting.version, outcome.detail});
}

void DeclaredStore::DecidePut(Waiting& waiting, Batch& batch) const {
  DeclaredChange& change = waiting.change;
  const bool replaces = batch.state.streams.contains(change.name);
  if (!replaces && batch.state.streams.size() >= parts_.max_streams) {
    waiting.outcome = {Kind::kTooMany, nullptr,
                       "there are " + std::to_string(parts_.max_streams) +
                           " declared streams already (declared_streams.max_streams)"};
    return;
  }
  Declaration declaration;
  declaration.name = change.name;
  declaration.settings_json = std::move(change.settings_json);
  declaration.declared_by = change.by;
  declaration.declared_at = std::chrono::floor<milliseconds>(parts_.clock.Now());
  declaration.expires_at = change.expires_at;
  declaration.version = ++batch.state.last_version;
  batch.journal += JournalPut(declaration);
  ++batch.lines;
  auto shared = std::make_shared<const Declaration>(std::move(declaration));
  batch.state.streams.insert_or_assign(change.name, shared);
  waiting.outcome = {replaces ? Kind::kReplaced : Kind::kCreated, std::move(shared), {}};
}

void DeclaredStore::DecideDelete(Waiting& waiting, Batch& batch) const {
  const auto found = batch.state.streams.find(waiting.change.name);
  if (found == batch.state.streams.end()) {
    waiting.outcome = {Kind::kAbsent, nullptr, "the stream is not declared"};
    return;
  }
  batch.journal += JournalDelete(waiting.change.name, ++batch.state.last_version);
  ++batch.lines;
  waiting.outcome = {Kind::kDeleted, found->second, {}};
  batch.state.streams.erase(found);
}

int DeclaredStore::Commit(Batch& batch) {
  const std::size_t live = batch.state.streams.size();
  if (!rewrite_ && journal_lines_ + batch.lines > 2 * live + kSpareLines) rewrite_ = true;
  const int error = rewrite_ ? parts_.journal->Replace(JournalOf(batch.state))
                             : parts_.journal->Append(batch.journal);
  if (error != 0) {
    rewrite_ = true;  // what the file ends in now is not known
    return error;
  }
  journal_lines_ = rewrite_ ? live + 1 : journal_lines_ + batch.lines;
  rewrite_ = false;
  const std::lock_guard lock(mutex_);
  failure_.clear();
  ++commits_;
  return 0;
}

// Takes them out of state_ whatever the disk says: nobody waits for an answer. The lines in the
// journal are only so that the next start does not tell of them again.
DeclaredStore::Batch DeclaredStore::RemoveExpired() {
  const WallTime now = parts_.clock.Now();
  Batch batch;
  for (auto at = state_.streams.begin(); at != state_.streams.end();) {
    const Declaration& declaration = *at->second;
    if (!IsExpired(declaration, now)) {
      ++at;
      continue;
    }
    batch.audit += ToText({now, declaration.declared_by, "", "expire", declaration.name, "expired",
                           declaration.version});
    batch.journal += JournalDelete(declaration.name, ++state_.last_version);
    ++batch.lines;
    at = state_.streams.erase(at);
  }
  return batch;
}

void DeclaredStore::Adopt(DeclaredState state) {
  state_ = std::move(state);
  std::vector<DeclaredStream> streams;
  streams.reserve(state_.streams.size());
  for (const auto& [name, declaration] : state_.streams) {
    streams.push_back({name, declaration->settings_json});
  }
  {
    const std::lock_guard lock(mutex_);
    published_ = state_.streams;
  }
  if (const auto applied = parts_.apply(std::move(streams)); !applied.has_value()) {
    core::Log(core::LogLevel::kError, "declared_streams_not_applied", applied.error().message);
    const std::lock_guard lock(mutex_);
    failure_ = applied.error().message;
  }
}

milliseconds DeclaredStore::TimeToExpiry() const {
  milliseconds wait = kNothingExpires;
  const WallTime now = parts_.clock.Now();
  for (const auto& [name, declaration] : state_.streams) {
    if (!declaration->expires_at) continue;
    const auto left = std::chrono::ceil<milliseconds>(*declaration->expires_at - now);
    wait = std::clamp(left, milliseconds(0), std::min(wait, kLongestWait));
  }
  return wait;
}

}  // namespace sluice::streams
