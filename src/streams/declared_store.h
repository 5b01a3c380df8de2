#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "streams/declared_file.h"
#include "streams/declared_journal.h"
#include "streams/stream_registry.h"

namespace sluice::streams {

// What has to be true of the declaration that is there already.
struct DeclaredCondition {
  enum class Kind : std::uint8_t { kNone, kAbsent, kPresent, kVersion };
  Kind kind = Kind::kNone;
  std::vector<std::uint64_t> versions;  // of kVersion: one of them
};

struct DeclaredChange {
  enum class Action : std::uint8_t { kPut, kDelete };
  Action action = Action::kPut;
  std::string name;
  std::string settings_json;  // of a put; checked
  std::optional<WallTime> expires_at;
  DeclaredCondition condition;
  std::string by;    // who: the name of the token
  std::string peer;  // from where
};

struct DeclaredOutcome {
  enum class Kind : std::uint8_t {
    kCreated,
    kReplaced,
    kDeleted,
    kAbsent,         // nothing to delete
    kStaticEntry,    // the name belongs to an entry of the static configuration
    kCondition,      // the condition does not hold
    kTooMany,        // max_streams
    kNoSpace,        // the disk is full; nothing was changed
    kStorageFailed,  // another error of the disk; nothing was changed
    kStopping,
  };
  Kind kind = Kind::kStopping;
  DeclarationPtr declaration;  // as it is now; of kDeleted what it was
  std::string detail;          // for a person, of the kinds that are no success
};
std::string_view ToString(DeclaredOutcome::Kind kind);

// The streams that were declared at run time. Changes are taken from any thread and made by one of
// its own, in the order of their coming: all that wait become durable together (one flush of the
// audit file, one of the journal), take effect, and are answered. What was answered as done
// survives a crash at any moment.
class DeclaredStore {
 public:
  struct Parts {
    const core::Clock& clock;
    std::unique_ptr<DurableFile> journal;
    std::unique_ptr<DurableFile> audit;
    // Makes these the declared streams of the gate.
    std::function<core::Result<void>(std::vector<DeclaredStream>)> apply;
    // The key of the static entry that the name belongs to, if there is one.
    std::function<std::optional<std::string>(std::string_view name)> static_entry;
    std::size_t max_streams = 1000;
  };

  explicit DeclaredStore(Parts parts);
  ~DeclaredStore();

  // Reads the journal and applies it. Fails if it cannot be read or another process has it; a line
  // that is damaged is left out, told, and a copy of the file is kept.
  core::Result<void> Start();
  // What waits is answered kStopping.
  void Stop();

  using Done = std::function<void(DeclaredOutcome)>;
  // Calls `done` once, from the store's thread, which must not be kept waiting. Not before Start.
  void Submit(DeclaredChange change, Done done);

  // Adds a line on a request that was refused before it came here; without waiting for it.
  void AuditRefusal(const DeclaredChange& change, std::string_view outcome);

  // What is declared and has not expired. Null: nothing of that name.
  DeclarationPtr Find(std::string_view name) const;
  std::vector<DeclarationPtr> List() const;  // by name
  std::size_t size() const { return List().size(); }

  // Why changes cannot be made durable now, or what was damaged at the start; empty if all is well.
  std::string trouble() const;
  std::uint64_t commits() const;

 private:
  struct Waiting {
    DeclaredChange change;
    Done done;
    DeclaredOutcome outcome;
    std::uint64_t version = 0;  // of the change, once it was decided on; 0: none
  };
  struct Batch {
    DeclaredState state;
    std::string journal;
    std::size_t lines = 0;
    std::string audit;
  };

  void Run();
  // `batch` begins with what comes before the changes that wait.
  void RunBatch(std::vector<Waiting> waiting, Batch batch);
  void Decide(Waiting& waiting, Batch& batch) const;
  void DecidePut(Waiting& waiting, Batch& batch) const;
  void DecideDelete(Waiting& waiting, Batch& batch) const;
  int Commit(Batch& batch);
  void Fail(std::vector<Waiting>& waiting, int error);
  Batch RemoveExpired();
  void Adopt(DeclaredState state);
  std::chrono::milliseconds TimeToExpiry() const;

  Parts parts_;
  std::thread thread_;

  // The store's thread only.
  DeclaredState state_;
  std::size_t journal_lines_ = 0;
  bool rewrite_ = false;  // the journal may end in something that does not count

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Waiting> queue_;
  std::string audit_queue_;
  bool stopping_ = false;
  std::map<std::string, DeclarationPtr, std::less<>> published_;
  std::string damage_;   // found at the start
  std::string failure_;  // of the last change
  std::uint64_t commits_ = 0;
};

}  // namespace sluice::streams
