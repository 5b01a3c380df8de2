#include "streams/declared_store.h"

#include <doctest/doctest.h>

#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <future>
#include <set>
#include <thread>

namespace sluice::streams {
namespace {

using Action = DeclaredChange::Action;
using Condition = DeclaredCondition::Kind;
using Kind = DeclaredOutcome::Kind;

struct FakeClock final : core::Clock {
  std::chrono::system_clock::time_point Now() const override {
    return WallTime(std::chrono::milliseconds(ms.load()));
  }
  std::atomic<std::int64_t> ms{1'800'000'000'000};
};

// What a disk holds; outlives the files that refer to it.
struct FakeDisk {
  std::mutex mutex;
  std::string content;
  std::string kept;
  int append_error = 0;
  int replace_error = 0;
  bool keeps_part = false;  // of an append that fails
  int appends = 0;
  std::function<void()> before_append;

  std::string Content() {
    const std::lock_guard lock(mutex);
    return content;
  }
};

class FakeFile final : public DurableFile {
 public:
  explicit FakeFile(FakeDisk& disk) : disk_(disk) {}
  int Load(std::string* content) override {
    *content = disk_.Content();
    return 0;
  }
  int Append(std::string_view bytes) override {
    if (disk_.before_append) disk_.before_append();
    const std::lock_guard lock(disk_.mutex);
    ++disk_.appends;
    if (disk_.append_error == 0) disk_.content += bytes;
    if (disk_.append_error != 0 && disk_.keeps_part)
      disk_.content += bytes.substr(0, bytes.size() / 2);
    return disk_.append_error;
  }
  int Replace(std::string_view content) override {
    const std::lock_guard lock(disk_.mutex);
    if (disk_.replace_error == 0) disk_.content = content;
    return disk_.replace_error;
  }
  int KeepCopy(const std::string& suffix) override {
    const std::lock_guard lock(disk_.mutex);
    disk_.kept = suffix;
    return 0;
  }

 private:
  FakeDisk& disk_;
};

struct World {
  FakeClock clock;
  FakeDisk journal;
  FakeDisk audit;
  std::mutex mutex;
  std::vector<DeclaredStream> applied;
  std::set<std::string> static_names{"static.one"};
  std::unique_ptr<DeclaredStore> store;

  // As a process that begins.
  void Start(std::size_t max_streams = 1000) {
    store.reset();
    store = std::make_unique<DeclaredStore>(DeclaredStore::Parts{
        clock, std::make_unique<FakeFile>(journal), std::make_unique<FakeFile>(audit),
        [this](std::vector<DeclaredStream> streams) -> core::Result<void> {
          const std::lock_guard lock(mutex);
          applied = std::move(streams);
          return {};
        },
        [this](std::string_view name) -> std::optional<std::string> {
          const std::lock_guard lock(mutex);
          if (!static_names.contains(std::string(name))) return std::nullopt;
          return std::string(name);
        },
        max_streams});
    REQUIRE(store->Start().has_value());
  }

  DeclaredOutcome Do(DeclaredChange change) {
    std::promise<DeclaredOutcome> promise;
    store->Submit(std::move(change),
                  [&promise](DeclaredOutcome outcome) { promise.set_value(std::move(outcome)); });
    return promise.get_future().get();
  }
  DeclaredOutcome Put(const std::string& name, DeclaredCondition condition = {},
                      std::optional<WallTime> expires = {}) {
    return Do({Action::kPut, name, R"({"schema_title":"x"})", expires, std::move(condition), "tool",
               "10.0.0.1"});
  }
  DeclaredOutcome Delete(const std::string& name, DeclaredCondition condition = {}) {
    return Do({Action::kDelete, name, "", {}, std::move(condition), "tool", "10.0.0.1"});
  }
  std::vector<std::string> Applied() {
    const std::lock_guard lock(mutex);
    std::vector<std::string> names;
    for (const auto& stream : applied) names.push_back(stream.name);
    return names;
  }
  std::vector<std::string> AuditOutcomes() {
    std::vector<std::string> outcomes;
    std::string text = audit.Content();
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      REQUIRE(end != std::string::npos);
      const boost::json::value line = boost::json::parse(text.substr(0, end));
      outcomes.emplace_back(line.at("outcome").as_string());
      text.erase(0, end + 1);
    }
    return outcomes;
  }
};

using Names = std::vector<std::string>;

TEST_CASE("DeclaredStore: a declaration takes effect, survives a restart, and goes") {
  World world;
  world.Start();
  const DeclaredOutcome created = world.Put("a.b");
  CHECK(created.kind == Kind::kCreated);
  CHECK(created.declaration->version == 1);
  CHECK(created.declaration->declared_by == "tool");
  CHECK(world.Applied() == Names{"a.b"});
  CHECK(world.Put("a.b").kind == Kind::kReplaced);
  CHECK(world.Put("c").declaration->version == 3);
  world.Start();
  CHECK(world.Applied() == Names{"a.b", "c"});
  CHECK(world.store->Find("a.b")->version == 2);
  CHECK(world.Delete("a.b").kind == Kind::kDeleted);
  CHECK(world.Delete("a.b").kind == Kind::kAbsent);
  CHECK(world.Applied() == Names{"c"});
  world.Start();
  CHECK(world.Applied() == Names{"c"});
  CHECK(world.store->Find("a.b") == nullptr);
  CHECK(world.Put("a.b").declaration->version == 5);  // never one that was given before
  CHECK(world.AuditOutcomes() ==
        Names{"created", "replaced", "created", "deleted", "absent", "created"});
}

TEST_CASE("DeclaredStore: conditions") {
  World world;
  world.Start();
  CHECK(world.Put("a", {Condition::kPresent, {}}).kind == Kind::kCondition);
  CHECK(world.Put("a", {Condition::kAbsent, {}}).kind == Kind::kCreated);
  CHECK(world.Put("a", {Condition::kAbsent, {}}).kind == Kind::kCondition);
  CHECK(world.Put("a", {Condition::kVersion, {1}}).kind == Kind::kReplaced);
  const DeclaredOutcome stale = world.Put("a", {Condition::kVersion, {1}});
  CHECK(stale.kind == Kind::kCondition);
  CHECK(stale.declaration->version == 2);
  CHECK(world.Delete("a", {Condition::kVersion, {}}).kind == Kind::kCondition);
  CHECK(world.Delete("a", {Condition::kVersion, {7, 2}}).kind == Kind::kDeleted);
}

TEST_CASE("DeclaredStore: a static entry is never overridden, what it overtook can be deleted") {
  World world;
  world.Start();
  CHECK(world.Put("static.one").kind == Kind::kStaticEntry);
  CHECK(world.Delete("static.one").kind == Kind::kStaticEntry);
  CHECK(world.Put("later").kind == Kind::kCreated);
  {
    const std::lock_guard lock(world.mutex);
    world.static_names.insert("later");
  }
  CHECK(world.Put("later").kind == Kind::kStaticEntry);
  CHECK(world.Delete("later").kind == Kind::kDeleted);
}

TEST_CASE("DeclaredStore: at most so many, replacing goes on") {
  World world;
  world.Start(2);
  CHECK(world.Put("a").kind == Kind::kCreated);
  CHECK(world.Put("b").kind == Kind::kCreated);
  CHECK(world.Put("c").kind == Kind::kTooMany);
  CHECK(world.Put("b").kind == Kind::kReplaced);
  CHECK(world.Delete("a").kind == Kind::kDeleted);
  CHECK(world.Put("c").kind == Kind::kCreated);
}

TEST_CASE("DeclaredStore: what has expired is gone, at once and after a restart") {
  World world;
  world.Start();
  const std::int64_t now = world.clock.ms;
  CHECK(world.Put("short", {}, WallTime(std::chrono::milliseconds(now + 5000))).kind ==
        Kind::kCreated);
  CHECK(world.Put("long", {}, WallTime(std::chrono::milliseconds(now + 9000))).kind ==
        Kind::kCreated);
  world.clock.ms = now + 4999;
  CHECK(world.store->Find("short") != nullptr);
  world.clock.ms = now + 5000;
  CHECK(world.store->Find("short") == nullptr);
  CHECK(world.store->List().size() == 1);
  CHECK(world.Put("other").kind == Kind::kCreated);  // the thread has been round
  CHECK(world.Applied() == Names{"long", "other"});
  CHECK(world.Put("short", {Condition::kAbsent, {}}).kind == Kind::kCreated);
  world.clock.ms = now + 20000;
  world.Start();
  CHECK(world.Applied() == Names{"other", "short"});
  CHECK(world.Put("x").kind == Kind::kCreated);
  const Names outcomes = world.AuditOutcomes();
  CHECK(std::count(outcomes.begin(), outcomes.end(), "expired") == 2);
}

TEST_CASE("DeclaredStore: by itself, without any request, what expires stops to apply") {
  World world;
  world.Start();
  CHECK(world.Put("short", {}, WallTime(std::chrono::milliseconds(world.clock.ms + 1))).kind ==
        Kind::kCreated);
  world.clock.ms += 1;
  while (!world.Applied().empty()) std::this_thread::yield();  // ctest's time-out is the failure
}

TEST_CASE("DeclaredStore: a full disk changes nothing, and the next change makes it good") {
  for (const bool keeps_part : {false, true}) {
    World world;
    world.Start();
    CHECK(world.Put("a").kind == Kind::kCreated);
    world.journal.keeps_part = keeps_part;
    world.journal.append_error = ENOSPC;
    world.journal.replace_error = ENOSPC;
    const DeclaredOutcome full = world.Put("b");
    CHECK(full.kind == Kind::kNoSpace);
    CHECK(full.detail.find("nothing was changed") != std::string::npos);
    CHECK(world.Delete("a").kind == Kind::kNoSpace);
    world.journal.replace_error = EIO;
    CHECK(world.Delete("a").kind == Kind::kStorageFailed);
    CHECK(world.Applied() == Names{"a"});
    CHECK(world.store->Find("b") == nullptr);
    CHECK(!world.store->trouble().empty());
    world.journal.append_error = world.journal.replace_error = 0;
    CHECK(world.Put("c").kind == Kind::kCreated);
    CHECK(world.store->trouble().empty());
    CHECK(world.Applied() == Names{"a", "c"});
    world.Start();
    CHECK(world.Applied() == Names{"a", "c"});
    CHECK(world.store->trouble().empty());
    CHECK(world.AuditOutcomes() == Names{"created", "created", "failed", "deleted", "failed",
                                         "deleted", "failed", "created"});
  }
}

TEST_CASE("DeclaredStore: without its audit line nothing is changed, a refusal is answered") {
  World world;
  world.Start();
  world.audit.append_error = EIO;
  CHECK(world.Put("a").kind == Kind::kStorageFailed);
  CHECK(world.journal.Content().empty());
  CHECK(world.Put("static.one").kind == Kind::kStaticEntry);
  world.audit.append_error = 0;
  CHECK(world.Put("a").kind == Kind::kCreated);
}

TEST_CASE("DeclaredStore: a damaged journal is kept, told, and the rest of it used") {
  World world;
  world.Start();
  CHECK(world.Put("a").kind == Kind::kCreated);
  const std::size_t first = world.journal.content.size();
  CHECK(world.Put("b").kind == Kind::kCreated);
  world.store->Stop();
  world.journal.content[first / 2] ^= 1;
  world.Start();
  CHECK(world.Applied() == Names{"b"});
  CHECK(world.journal.kept.starts_with(".damaged-"));
  CHECK(world.store->trouble().find("1 lines") != std::string::npos);
  world.Start();  // it was written anew
  CHECK(world.store->trouble().empty());
  CHECK(world.Put("c").declaration->version == 3);
}

TEST_CASE("DeclaredStore: a torn end is cut off before anything is added") {
  World world;
  world.Start();
  CHECK(world.Put("a").kind == Kind::kCreated);
  world.store->Stop();
  world.journal.content += "0123";
  world.Start();
  CHECK(world.Put("b").kind == Kind::kCreated);
  world.Start();
  CHECK(world.Applied() == Names{"a", "b"});
}

TEST_CASE(
    "DeclaredStore: changes that wait share one flush, from many threads, and all are there") {
  World world;
  world.Start();
  std::promise<void> entered;
  std::promise<void> open;
  std::atomic<bool> first{true};
  world.journal.before_append = [&] {
    if (!first.exchange(false)) return;
    entered.set_value();
    open.get_future().wait();
  };
  std::atomic<int> created{0};
  std::atomic<int> answered{0};
  const auto count = [&](const DeclaredOutcome& outcome) {
    if (outcome.kind == Kind::kCreated) ++created;
    ++answered;
  };
  const auto change = [](const std::string& name) {
    return DeclaredChange{Action::kPut, name, R"({"schema_title":"x"})", {}, {}, "tool", ""};
  };
  world.store->Submit(change("first"), count);
  entered.get_future().wait();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        world.store->Submit(change("s" + std::to_string(t) + "." + std::to_string(i)), count);
        world.store->List();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  open.set_value();
  while (answered < 401) std::this_thread::yield();  // ctest's time-out is the failure
  CHECK(created == 401);
  CHECK(world.store->commits() == 2);
  world.Start();
  CHECK(world.Applied().size() == 401);
}

TEST_CASE("DeclaredStore: the journal does not grow without end") {
  World world;
  world.Start();
  for (int i = 0; i < 1500; ++i) CHECK(world.Put("a").kind != Kind::kStorageFailed);
  const std::string content = world.journal.Content();
  CHECK(std::count(content.begin(), content.end(), '\n') < 1100);
  world.Start();
  CHECK(world.store->Find("a")->version == 1500);
}

TEST_CASE("DeclaredStore: after its stop a change is answered so") {
  World world;
  world.Start();
  world.store->Stop();
  CHECK(world.Put("a").kind == Kind::kStopping);
}

}  // namespace
}  // namespace sluice::streams
