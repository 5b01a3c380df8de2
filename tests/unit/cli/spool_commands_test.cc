#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "produce/spool_aside.h"
#include "produce/spool_inspect.h"
#include "produce/spool_log.h"
#include "produce/spool_return.h"
#include "support/mock_kafka.h"
#include "support/temp_folder.h"
#include "unit/cli/run_captured.h"

namespace sluice::cli {
namespace {

using produce::SpoolRecord;

// A spool with three records in one segment, as a daemon that ended left it.
struct Fixture {
  test::TempFolder folder;
  std::unique_ptr<produce::FileOps> ops = produce::MakePosixFileOps();
  std::string dir = folder.path() + "/spool";

  Fixture() {
    REQUIRE(ops->CreateFolders(dir) == 0);
    produce::SpoolLog log({.folder = dir, .now_ms = [] { return std::int64_t{1577836800000}; }},
                          *ops);
    produce::SpoolPosition done;
    produce::SpoolLog::Recovery recovery;
    REQUIRE(log.Open(&done, &recovery) == 0);
    std::vector<SpoolRecord> records = {Record("a", "one"), Record("b", "two"),
                                        Record("a", "\"3\"")};
    records[0].record.key = "{\"k\":1}";
    records[0].record.has_key = true;
    records[1].mode = produce::DeliveryMode::kGuaranteed;
    records[1].written = produce::Written::kPerhaps;
    std::size_t kept = 0;
    REQUIRE(log.Append(records, &kept) == 0);
    REQUIRE(log.Seal() == 0);
  }

  static SpoolRecord Record(std::string_view topic, std::string_view value) {
    SpoolRecord record;
    record.topic = topic;
    record.record = {.value = value, .key = {}, .has_key = false, .timestamp_ms = 7};
    return record;
  }
  void SetAside(std::string_view value) {
    produce::SpoolAside aside(*ops, dir);
    REQUIRE(aside.Open() == 0);
    REQUIRE(aside.KeepRefused(Record("a", value)) == 0);
  }
  Outcome Spool(std::vector<std::string> words) const {
    words.insert(words.begin(), "spool");
    words.insert(words.end(), {"--dir", dir});
    return RunCaptured(words);
  }
  std::vector<std::string> Waiting() {
    std::vector<std::string> values;
    produce::ReadSpool(*ops, dir, [&](const SpoolRecord& record) {
      values.emplace_back(record.record.value);
      return true;
    });
    return values;
  }
  std::string Segment() const { return dir + "/0000000000000001.spool"; }
};

using Values = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(Fixture, "spool ls: tells the segments, and what waits") {
  const Outcome outcome = Spool({"ls"});
  CHECK(outcome.code == kGood);
  CHECK(Has(outcome.out, "0000000000000001.spool  3 records  "));
  CHECK(Has(outcome.out, "2020-01-01T00:00:00.000Z to 2020-01-01T00:00:00.000Z"));
  CHECK(Has(outcome.out, "3 records wait, 0 bytes were set aside\n"));
  const auto daemon = produce::MakePosixFileOps();
  REQUIRE(daemon->LockFolder(dir) == 0);
  CHECK(Has(Spool({"ls"}).out, ", a process uses it\n"));
}

TEST_CASE_FIXTURE(Fixture, "spool: a folder that is not there is wrong usage") {
  std::filesystem::remove_all(dir);
  for (const char* command : {"ls", "verify", "export", "drop"}) {
    const Outcome outcome = Spool({command});
    CHECK(outcome.code == kUsage);
    CHECK(Has(outcome.err, "there is no spool at " + dir));
  }
}

TEST_CASE_FIXTURE(Fixture, "spool: what changes or judges it needs it alone") {
  const auto daemon = produce::MakePosixFileOps();
  REQUIRE(daemon->LockFolder(dir) == 0);
  for (const std::vector<std::string>& words : {Values{"verify"}, Values{"drop", "--yes"}}) {
    const Outcome outcome = Spool(words);
    CHECK(outcome.code == kUsage);
    CHECK(Has(outcome.err, "another process uses the spool"));
  }
  CHECK(Waiting().size() == 3);
  CHECK(Spool({"export"}).code == kGood);
}

TEST_CASE_FIXTURE(Fixture, "spool verify: good, or which place is damaged") {
  CHECK(Spool({"verify"}).code == kGood);
  CHECK(Spool({"verify"}).out == "1 segments, 3 records wait, 0 problems\n");
  {
    std::fstream file(Segment(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(120);
    file.put('!');
  }
  const Outcome outcome = Spool({"verify"});
  CHECK(outcome.code == kBad);
  CHECK(Has(outcome.err, Segment()));
  CHECK_FALSE(Has(outcome.out, " 0 problems"));
}

TEST_CASE_FIXTURE(Fixture, "spool export: every record with all that it is, in order") {
  const Outcome outcome = Spool({"export"});
  CHECK(outcome.code == kGood);
  const std::string rest = R"(,"timestamp":7,"mode":)";
  const std::string when = R"(,"spooled":"2020-01-01T00:00:00.000Z","sequence":)";
  CHECK(outcome.out ==
        R"({"topic":"a","key":"{\"k\":1}")" + rest + R"("hasty","perhaps_written":false)" + when +
            R"(1,"value":"one"})" + "\n" +  //
            R"({"topic":"b","key":null)" + rest + R"("guaranteed","perhaps_written":true)" + when +
            R"(2,"value":"two"})" + "\n" +  //
            R"({"topic":"a","key":null)" + rest + R"("hasty","perhaps_written":false)" + when +
            R"(3,"value":"\"3\""})" + "\n");
}

TEST_CASE_FIXTURE(Fixture, "spool export: what was set aside is another matter") {
  CHECK(Spool({"export", "--aside"}).out.empty());
  SetAside("refused");
  CHECK_FALSE(Has(Spool({"export"}).out, "refused"));
  const Outcome outcome = Spool({"export", "--aside"});
  CHECK(outcome.code == kGood);
  CHECK(Has(outcome.out, R"("value":"refused"})"));
  CHECK_FALSE(Has(outcome.out, "two"));
}

TEST_CASE_FIXTURE(Fixture, "spool drop: says what it would delete, and does so on --yes only") {
  const Outcome asked = Spool({"drop"});
  CHECK(asked.code == kUsage);
  CHECK(Has(asked.err, "this would delete 3 records in 1 segments"));
  CHECK(Waiting().size() == 3);
  const Outcome done = Spool({"drop", "--yes"});
  CHECK(done.code == kGood);
  CHECK(done.out == "deleted 3 records in 1 segments\n");
  CHECK(Waiting().empty());
}

TEST_CASE_FIXTURE(Fixture,
                  "spool replay: needs brokers; sends what waits, and what was set aside") {
  CHECK(Spool({"replay"}).code == kUsage);
  SetAside("once more");
  test::MockKafka kafka;
  const std::string config = folder.Write(
      "sluice.yaml", "schema_base_uris: [/schemas]\nkafka.conf: {metadata.broker.list: '" +
                         kafka.bootstrap() + "'}\n");
  const Outcome outcome = Spool({"replay", "--aside", "--config", config});
  CHECK_MESSAGE(outcome.code == kGood, outcome.err);
  CHECK(outcome.out == "1 records were put back\n4 records delivered, 0 wait\n");
  std::vector<std::string> values;
  for (const auto& record : kafka.Consume("a", 3)) values.push_back(record.value);
  std::sort(values.begin(), values.end());  // the topic has partitions
  CHECK(values == Values{"\"3\"", "once more", "one"});
  CHECK(Waiting().empty());
  CHECK(Spool({"export", "--aside"}).out.empty());
}

TEST_CASE_FIXTURE(Fixture, "ReturnSpoolAside: a second try after a crash loses nothing") {
  SetAside("first");
  const std::string aside = dir + "/aside/";
  std::filesystem::rename(aside + "refused.spool",
                          aside + "returning.spool");  // and it ended there
  SetAside("second");
  CHECK(Has(Spool({"export", "--aside"}).out, "first"));
  CHECK(produce::ReturnSpoolAside(*ops, dir, 1 << 20).records == 2);
  CHECK(produce::ReturnSpoolAside(*ops, dir, 1 << 20).records == 0);
  CHECK(Waiting() == Values{"one", "two", "\"3\"", "first", "second"});
}

}  // namespace sluice::cli
