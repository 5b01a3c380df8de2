#include "cli/spool_commands.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cli/config_options.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "core/iso_time.h"
#include "core/json_text.h"
#include "core/metrics.h"
#include "daemon/config_reader.h"
#include "produce/kafka_replay.h"
#include "produce/spool.h"
#include "produce/spool_inspect.h"
#include "produce/spool_return.h"

namespace sluice::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr OptionSpec kDirOption{"--dir", "DIR", "the spool's folder, instead of a configuration"};

constexpr std::chrono::minutes kStuckAfter{1};  // of a replay by hand that gets nowhere

int Fail(ExitCode code, const std::string& text) {
  Print(stderr, "sluice: " + text + '\n');
  return code;
}

std::string TimeText(std::int64_t ms) {
  return core::FormatIsoTime(std::chrono::system_clock::time_point(std::chrono::milliseconds(ms)));
}

// A spool that a command works on.
struct Opened {
  core::Config config;
  std::string folder;
  std::unique_ptr<produce::FileOps> ops = produce::MakePosixFileOps();
  bool in_use = false;  // a daemon, or another command, has it
};

enum class Use : std::uint8_t { kLook, kAlone };

// Finds the spool that --dir or the configuration names; otherwise says what is wrong and returns
// the exit code.
int Open(const Arguments& arguments, Use use, Opened& opened) {
  opened.folder = arguments.Value("--dir");
  if (opened.folder.empty() || arguments.Has("--config")) {
    const daemon::ConfigReading reading =
        daemon::ReadConfig({std::string(arguments.Value("--config")), arguments.Values("--set")});
    for (const daemon::ConfigProblem& problem : reading.problems)
      Print(stderr, problem.Line() + '\n');
    if (!reading.problems.empty()) return kUsage;
    opened.config = reading.config;
  }
  const core::OutputOptions& output = opened.config.output;
  if (opened.folder.empty()) opened.folder = output.spool.dir;
  if (opened.folder.empty()) opened.folder = output.data_dir + "/spool";
  std::error_code error;
  if (!std::filesystem::is_directory(opened.folder, error)) {
    return Fail(kUsage, "there is no spool at " + opened.folder +
                            ": name it with --dir, or with --config the configuration of serve");
  }
  const int locked = opened.ops->LockFolder(opened.folder);
  opened.in_use = locked == EWOULDBLOCK;
  if (opened.in_use && use == Use::kAlone) {
    return Fail(kUsage, "another process uses the spool " + opened.folder +
                            ", probably sluice serve: stop it first");
  }
  if (locked != 0 && !opened.in_use) {
    return Fail(kUsage, "the spool " + opened.folder + " cannot be locked: " +
                            std::error_code(locked, std::generic_category()).message());
  }
  return kGood;
}

void PrintProblems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) Print(stderr, problem + '\n');
}

std::string ExportLine(const produce::SpoolRecord& record) {
  std::string line = "{\"topic\":";
  core::AppendJsonString(line, record.topic);
  line += ",\"key\":";
  if (record.record.has_key) {
    core::AppendJsonString(line, record.record.key);
  } else {
    line += "null";
  }
  line += ",\"timestamp\":" + std::to_string(record.record.timestamp_ms);
  line += record.mode == produce::DeliveryMode::kHasty ? ",\"mode\":\"hasty\""
                                                       : ",\"mode\":\"guaranteed\"";
  line += record.written == produce::Written::kPerhaps ? ",\"perhaps_written\":true"
                                                       : ",\"perhaps_written\":false";
  line += ",\"spooled\":\"" + TimeText(record.spooled_ms) + "\"";
  line += ",\"sequence\":" + std::to_string(record.sequence) + ",\"value\":";
  core::AppendJsonString(line, record.record.value);
  return line + "}\n";
}

}  // namespace

const CommandSpec& SpoolLsSpec() {
  static const CommandSpec spec = {"spool ls",
                                   "Show the segments of a spool and how many records wait.",
                                   "Reads only the ends of the files. Works beside a daemon.",
                                   {kConfigOption, kSetOption, kDirOption}};
  return spec;
}

int SpoolLs(const Arguments& arguments) {
  Opened spool;
  if (const int code = Open(arguments, Use::kLook, spool); code != kGood) return code;
  const produce::SpoolContents contents =
      produce::InspectSpool(*spool.ops, spool.folder, produce::SpoolDepth::kFooters);
  for (const auto& segment : contents.segments) {
    Print(stdout, produce::SegmentName(segment.number) + "  " + std::to_string(segment.records) +
                      " records  " + std::to_string(segment.bytes) + " bytes  " +
                      TimeText(segment.first_ms) + " to " + TimeText(segment.last_ms) +
                      (segment.sealed ? "" : "  (not ended)") + '\n');
  }
  PrintProblems(contents.problems);
  Print(stdout, std::to_string(contents.waiting) + " records wait, " +
                    std::to_string(contents.aside_bytes) + " bytes were set aside" +
                    (spool.in_use ? ", a process uses it" : "") + '\n');
  return kGood;
}

const CommandSpec& SpoolVerifySpec() {
  static const CommandSpec spec = {"spool verify",
                                   "Read every byte of a spool and say what is damaged.",
                                   "Exit code 0: all is whole, 1: it is not. An unfinished end, as "
                                   "a crash leaves it, counts as\n"
                                   "damaged; the next start cuts it off.",
                                   {kConfigOption, kSetOption, kDirOption}};
  return spec;
}

int SpoolVerify(const Arguments& arguments) {
  Opened spool;
  if (const int code = Open(arguments, Use::kAlone, spool); code != kGood) return code;
  const produce::SpoolContents contents =
      produce::InspectSpool(*spool.ops, spool.folder, produce::SpoolDepth::kRecords);
  PrintProblems(contents.problems);
  Print(stdout, std::to_string(contents.segments.size()) + " segments, " +
                    std::to_string(contents.waiting) + " records wait, " +
                    std::to_string(contents.problems.size()) + " problems\n");
  return contents.problems.empty() ? kGood : kBad;
}

const CommandSpec& SpoolExportSpec() {
  static const CommandSpec spec = {
      "spool export",
      "Print the records that wait, one JSON object a line.",
      "The value is a string that holds the event's exact text. Exit code 1 if not all could be "
      "read.\nBeside a daemon, records that are being delivered may be missing or already "
      "delivered.",
      {kConfigOption,
       kSetOption,
       kDirOption,
       {"--aside", "", "the records that Kafka refused for good instead"}}};
  return spec;
}

int SpoolExport(const Arguments& arguments) {
  Opened spool;
  if (const int code = Open(arguments, Use::kLook, spool); code != kGood) return code;
  const auto print = [](const produce::SpoolRecord& record) {
    Print(stdout, ExportLine(record));
    return std::ferror(stdout) == 0;
  };
  const std::vector<std::string> problems =
      arguments.Has("--aside") ? produce::ReadSpoolAside(*spool.ops, spool.folder, print)
                               : produce::ReadSpool(*spool.ops, spool.folder, print);
  PrintProblems(problems);
  return problems.empty() ? kGood : kBad;
}

const CommandSpec& SpoolReplaySpec() {
  static const CommandSpec spec = {
      "spool replay",
      "Send the records that wait to Kafka, and remove what is delivered.",
      "What serve does by itself after a start; for a spool whose instance does not come back.\n"
      "Exit code 0: nothing waits any more, 1: something does.",
      {kConfigOption,
       kSetOption,
       kDirOption,
       {"--aside", "",
        "also the records that Kafka refused for good: once more, behind the rest"}}};
  return spec;
}

int SpoolReplay(const Arguments& arguments) {
  if (!arguments.Has("--config"))
    return Fail(kUsage, "spool replay needs --config, which names the brokers");
  Opened spool;
  if (const int code = Open(arguments, Use::kAlone, spool); code != kGood) return code;
  const core::OutputOptions& output = spool.config.output;
  if (arguments.Has("--aside")) {
    const produce::SpoolReturn returned =
        produce::ReturnSpoolAside(*spool.ops, spool.folder, output.spool.segment_bytes);
    PrintProblems(returned.problems);
    if (!returned.problems.empty()) return kBad;
    Print(stdout, std::to_string(returned.records) + " records were put back\n");
  }
  spool.ops = produce::MakePosixFileOps();  // the lock is the spool's from here on
  core::Metrics metrics(spool.config.metrics, spool.config.service_name);
  produce::KafkaReplay target(output.kafka, spool.config.user_agent);
  if (const auto started = target.Start(); !started) return Fail(kUsage, started.error().message);
  produce::Spool replayed(output.spool, spool.folder, *spool.ops, metrics);
  replayed.Start(target);
  if (replayed.state() == produce::SpoolState::kBroken) return Fail(kUsage, replayed.trouble());
  std::uint64_t waiting = replayed.waiting();
  auto moved = steady_clock::now();
  while (waiting > 0 && steady_clock::now() - moved < kStuckAfter) {
    std::this_thread::sleep_for(milliseconds(100));
    if (const std::uint64_t now = replayed.waiting(); now != waiting) {
      waiting = now;
      moved = steady_clock::now();
    }
  }
  replayed.StopReplay();
  target.Stop(steady_clock::now());
  const auto report = replayed.Finish(steady_clock::now() + std::chrono::seconds(2));
  Print(stdout, std::to_string(report.replayed) + " records delivered, " +
                    std::to_string(report.waiting) + " wait\n");
  return report.waiting == 0 ? kGood : kBad;
}

const CommandSpec& SpoolDropSpec() {
  static const CommandSpec spec = {
      "spool drop",
      "Delete the records that wait. Events that were acknowledged are lost.",
      "",
      {kConfigOption,
       kSetOption,
       kDirOption,
       {"--yes", "", "do it; without this it only says how many records that would be"}}};
  return spec;
}

int SpoolDrop(const Arguments& arguments) {
  Opened spool;
  if (const int code = Open(arguments, Use::kAlone, spool); code != kGood) return code;
  const produce::SpoolContents contents =
      produce::InspectSpool(*spool.ops, spool.folder, produce::SpoolDepth::kFooters);
  const std::string what = std::to_string(contents.waiting) + " records in " +
                           std::to_string(contents.segments.size()) + " segments";
  if (!arguments.Has("--yes"))
    return Fail(kUsage, "this would delete " + what + "; say --yes to do it");
  for (const auto& segment : contents.segments) {
    if (const int error = spool.ops->Remove(segment.path); error != 0)
      return Fail(kBad, segment.path + " cannot be removed: " +
                            std::error_code(error, std::generic_category()).message());
  }
  Print(stdout, "deleted " + what + '\n');
  return kGood;
}

}  // namespace sluice::cli
