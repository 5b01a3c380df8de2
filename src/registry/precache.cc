#include "registry/precache.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/log.h"
#include "registry/version_files.h"

namespace sluice::registry {
namespace {

constexpr int kWindow = 8;

// Counts what was asked and not answered yet. Notifies under its lock: the waiter may destroy it
// right after.
class Outstanding {
 public:
  void Begin(int at_most) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, at_most] { return count_ < at_most; });
    ++count_;
  }
  void End() {
    std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }
  void WaitForAll() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

void LogFailure(std::string_view uri, const core::Error& error) {
  core::Log(core::LogLevel::kWarn, "schema_precache_failed", error.message,
            {{"schema_uri", uri}, {"code", core::ToString(error.code)}});
}

}  // namespace

core::Result<SchemaPtr> AskAndWait(const std::string& uri, const AskForSchema& ask) {
  Outstanding outstanding;
  core::Result<SchemaPtr> result{SchemaPtr()};
  outstanding.Begin(1);
  ask(uri, [&](core::Result<SchemaPtr> got) {
    result = std::move(got);
    outstanding.End();
  });
  outstanding.WaitForAll();
  return result;
}

void PrecacheNamed(const std::vector<std::string>& uris, const AskForSchema& ask) {
  Outstanding outstanding;
  for (const auto& uri : uris) {
    outstanding.Begin(kWindow);
    ask(uri, [&outstanding, &uri](core::Result<SchemaPtr> got) {
      if (!got) LogFailure(uri, got.error());
      outstanding.End();
    });
  }
  outstanding.WaitForAll();
}

void PrecacheAll(const std::vector<BaseUri>& bases, const AskForSchema& ask) {
  std::vector<std::string> problems;
  for (const auto& base : bases) {
    if (base.remote) continue;
    for (const auto& file : FindVersionFiles(base.prefix, problems)) {
      auto result = AskAndWait(file.uri, ask);
      // Without links and without schema_file_extension events have to name the file.
      if (!result && result.error().code == core::ErrorCode::kSchemaNotFound &&
          !file.extension.empty()) {
        result = AskAndWait(file.uri + file.extension, ask);
      }
      if (!result) LogFailure(file.uri, result.error());
      if (!result && result.error().code == core::ErrorCode::kShuttingDown) return;
    }
  }
  for (const auto& problem : problems) {
    core::Log(core::LogLevel::kWarn, "schema_folder_unreadable", problem);
  }
}

}  // namespace sluice::registry
