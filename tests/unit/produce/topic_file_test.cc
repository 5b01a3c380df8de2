#include "produce/topic_file.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "produce/topic_file_name.h"
#include "unit/produce/fake_file_ops.h"

namespace sluice::produce {
namespace {

using Values = std::vector<std::string_view>;

struct Fixture {
  std::shared_ptr<FakeFileOps::Disk> disk = std::make_shared<FakeFileOps::Disk>();
  FakeFileOps ops{disk};
  TopicFile file{ops, "t", "a.ndjson", core::FsyncPolicy::kBatch};
  std::string text() { return disk->Text("t/a.ndjson"); }
};

}  // namespace

TEST_CASE("TopicFileName: legal topics stand as they are, everything else is percent-encoded") {
  CHECK(TopicFileName("eqiad.mediawiki.page-create_1").value() ==
        "eqiad.mediawiki.page-create_1.ndjson");
  CHECK(TopicFileName("../../etc/passwd").value() == "%2E.%2F..%2Fetc%2Fpasswd.ndjson");
  CHECK(TopicFileName("..").value() == "%2E..ndjson");
  CHECK(TopicFileName(std::string_view("a\0b", 3)).value() == "a%00b.ndjson");
  CHECK(TopicFileName("a%00b").value() == "a%2500b.ndjson");
  CHECK(TopicFileName("\xc3\xa4").value() == "%C3%A4.ndjson");
}

TEST_CASE("TopicFileName: no file name, no value") {
  CHECK_FALSE(TopicFileName(""));
  CHECK(TopicFileName(std::string(248, 'a')));
  CHECK_FALSE(TopicFileName(std::string(249, 'a')));
  CHECK_FALSE(TopicFileName(std::string(100, '/')));
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: a group is one write and one sync") {
  const auto outcome = file.Append(Values{"{\"a\":1}", "{}"});
  CHECK(outcome.kept == 2);
  CHECK(outcome.problem == "");
  CHECK(text() == "{\"a\":1}\n{}\n");
  CHECK(disk->Count("write") == 1);
  CHECK(disk->Count("sync") == 1);
  CHECK(disk->Count("sync_folder") == 1);
}

TEST_CASE("TopicFile: policy never does not sync") {
  auto disk = std::make_shared<FakeFileOps::Disk>();
  FakeFileOps ops(disk);
  TopicFile file(ops, "t", "a.ndjson", core::FsyncPolicy::kNever);
  CHECK(file.Append(Values{"{}"}).kept == 1);
  CHECK(disk->Count("sync") == 0);
  CHECK(disk->Count("sync_folder") == 0);
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: newlines inside of a value become spaces") {
  CHECK(file.Append(Values{"{\n \"a\": 1\n}", "\n"}).kept == 2);
  CHECK(text() == "{  \"a\": 1 }\n \n");
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: short writes go on where they stopped") {
  for (std::size_t longest : {1u, 2u, 3u, 7u}) {
    CAPTURE(longest);
    disk->files.clear();
    disk->longest_write = longest;
    CHECK(file.Append(Values{"abcde", "f", "", "ghi"}).kept == 4);
    CHECK(text() == "abcde\nf\n\nghi\n");
  }
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: more lines than one write takes") {
  const std::vector<std::string_view> values(5000, "xy");
  CHECK(file.Append(values).kept == 5000);
  CHECK(text().size() == 15000);
  CHECK(disk->Count("write") > 1);
  CHECK(disk->Count("write") < 20);
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: on a full disk whole lines stay and a torn one is cut") {
  for (std::uint64_t room = 0; room < 11; ++room) {
    CAPTURE(room);
    disk->files.clear();
    disk->room_bytes = room;
    const auto outcome = file.Append(Values{"abc", "de", "fgh"});  // 4 + 3 + 4 bytes
    const std::size_t kept = room < 4 ? 0 : room < 7 ? 1 : 2;
    CHECK(outcome.kept == kept);
    CHECK(outcome.problem == "appending to t/a.ndjson failed: No space left on device");
    CHECK(text() == std::string("abc\nde\n").substr(0, kept == 0 ? 0 : kept == 1 ? 4 : 7));
    disk->room_bytes = UINT64_MAX;
    CHECK(file.Append(Values{"next"}).kept == 1);
    CHECK(text().ends_with("next\n"));
    CHECK(text().find("fg") == std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "TopicFile: a torn line that cannot be cut at once is cut before the next") {
  CHECK(file.Append(Values{"good"}).kept == 1);
  disk->room_bytes = 2;
  disk->fail = [](const std::string& call, const std::string&) {
    return call == "truncate" ? EIO : 0;
  };
  CHECK(file.Append(Values{"torn"}).kept == 0);
  CHECK(text() == "good\nto");
  disk->room_bytes = UINT64_MAX;
  const auto outcome = file.Append(Values{"refused"});
  CHECK(outcome.kept == 0);
  CHECK(outcome.problem == "cutting the torn line of t/a.ndjson failed: Input/output error");
  CHECK(text() == "good\nto");
  disk->fail = nullptr;
  CHECK(file.Append(Values{"next"}).kept == 1);
  CHECK(text() == "good\nnext\n");
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: a failed sync takes the group out and opens afresh") {
  CHECK(file.Append(Values{"good"}).kept == 1);
  disk->fail = [](const std::string& call, const std::string&) { return call == "sync" ? EIO : 0; };
  const auto outcome = file.Append(Values{"a", "b"});
  CHECK(outcome.kept == 0);
  CHECK(outcome.problem == "syncing t/a.ndjson failed: Input/output error");
  CHECK(text() == "good\n");
  disk->fail = nullptr;
  const std::size_t opened = disk->Count("open");
  CHECK(file.Append(Values{"next"}).kept == 1);
  CHECK(disk->Count("open") == opened + 1);
  CHECK(text() == "good\nnext\n");
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: a write that fails outright keeps nothing and says so") {
  disk->fail = [](const std::string& call, const std::string&) {
    return call == "write" ? EIO : 0;
  };
  const auto outcome = file.Append(Values{"a"});
  CHECK(outcome.kept == 0);
  CHECK(outcome.problem == "appending to t/a.ndjson failed: Input/output error");
  CHECK(disk->Count("sync") == 0);
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: opening cuts an unfinished last line") {
  const auto repaired = [&](std::string before, std::uint64_t cut) {
    disk->files["t/a.ndjson"] = std::make_shared<std::string>(std::move(before));
    std::uint64_t cut_bytes = 99;
    CHECK(file.Open(&cut_bytes) == "");
    CHECK(cut_bytes == cut);
    return text();
  };
  CHECK(repaired("", 0) == "");
  CHECK(repaired("a\n", 0) == "a\n");
  CHECK(repaired("a\nbc", 2) == "a\n");
  CHECK(repaired("abc", 3) == "");
  CHECK(repaired("a\n" + std::string(200000, 'x'), 200000) == "a\n");
  CHECK(repaired(std::string(65535, 'x') + "\n" + "y", 1) == std::string(65535, 'x') + "\n");
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: a file that was removed is made again") {
  CHECK(file.Append(Values{"a"}).kept == 1);
  {
    const std::lock_guard lock(disk->mutex);
    disk->files.clear();
  }
  CHECK(file.Append(Values{"b"}).kept == 1);
  CHECK(text() == "b\n");
}

TEST_CASE_FIXTURE(Fixture, "TopicFile: a file that was emptied goes on from there") {
  CHECK(file.Append(Values{"long line"}).kept == 1);
  {
    const std::lock_guard lock(disk->mutex);
    disk->files["t/a.ndjson"]->clear();
  }
  disk->room_bytes = 3;
  CHECK(file.Append(Values{"b", "cd"}).kept == 1);
  CHECK(text() == "b\n");
}

}  // namespace sluice::produce
