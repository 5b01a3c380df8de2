#include "cli/config_commands.h"

#include <cstdio>
#include <string>

#include "cli/config_options.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "core/json_text.h"
#include "core/log.h"
#include "daemon/config_checks.h"
#include "daemon/config_docs.h"
#include "daemon/config_reader.h"
#include "daemon/daemon.h"
#include "daemon/tls_files.h"

namespace sluice::cli {
namespace {

daemon::ConfigReading ReadFrom(const Arguments& arguments) {
  daemon::ConfigReading reading =
      daemon::ReadConfig({std::string(arguments.Value("--config")), arguments.Values("--set")});
  daemon::CheckTlsFiles(reading);
  return reading;
}

std::string IgnoredLine(const daemon::IgnoredKey& ignored) {
  return ignored.where + ": " + ignored.key + ": ignored, " + ignored.reason;
}

void PrintProblems(const std::vector<daemon::ConfigProblem>& problems) {
  for (const daemon::ConfigProblem& problem : problems) Print(stderr, problem.Line() + '\n');
}

// One line, so that the limit of lines of a kind does not hide any.
void LogIgnored(const std::vector<daemon::IgnoredKey>& ignored) {
  if (ignored.empty()) return;
  std::string list = "[";
  for (const daemon::IgnoredKey& key : ignored) {
    if (list.size() > 1) list += ',';
    core::AppendJsonString(list, IgnoredLine(key));
  }
  core::LogField keys("keys", list + ']');
  keys.raw_json = true;
  core::Log(core::LogLevel::kInfo, "config_ignored",
            std::to_string(ignored.size()) + " configuration keys do nothing here", {keys});
}

}  // namespace

const CommandSpec& CheckConfigSpec() {
  static const CommandSpec spec = {
      "check-config",
      "Read the configuration as serve would and report all problems. Connects to nothing.",
      "Exit code 0: good, 2: not.",
      {kConfigOption,
       kSetOption,
       {"--print", "", "show the configuration in force, secrets masked"},
       {"--print-docs", "", "print docs/configuration.md", Repeat::kOnce, Visibility::kHidden},
       {"--print-example", "", "print config/production.yaml", Repeat::kOnce,
        Visibility::kHidden}}};
  return spec;
}

int CheckConfig(const Arguments& arguments) {
  if (arguments.Has("--print-docs")) {
    Print(stdout, daemon::ConfigurationPage());
    return kGood;
  }
  if (arguments.Has("--print-example")) {
    Print(stdout, daemon::ProductionExample());
    return kGood;
  }
  const daemon::ConfigReading reading = ReadFrom(arguments);
  if (!reading.problems.empty()) {
    PrintProblems(reading.problems);
    const std::size_t count = reading.problems.size();
    Print(stderr, std::to_string(count) + (count == 1 ? " problem" : " problems") +
                      " in the configuration\n");
    return kUsage;
  }
  // As comments, --print's output stays a file that can be used.
  const std::string_view before = arguments.Has("--print") ? "# " : "";
  for (const daemon::IgnoredKey& ignored : reading.ignored) {
    Print(stdout, std::string(before) + IgnoredLine(ignored) + '\n');
  }
  Print(stdout, arguments.Has("--print") ? daemon::EffectiveConfig(reading.config)
                                         : "The configuration is good.\n");
  return kGood;
}

const CommandSpec& ServeSpec() {
  static const CommandSpec spec = {
      "serve",
      "Take events over HTTP, check them, and write them to their topics.",
      "Says on stderr when it is ready, with the addresses it listens on. Stops on SIGTERM: "
      "finishes what it has\n"
      "taken, exit code 0, or 3 if events were lost. Exit code 2: it could not start as "
      "configured.",
      {kConfigOption, kSetOption}};
  return spec;
}

int Serve(const Arguments& arguments) {
  const daemon::ConfigReading reading = ReadFrom(arguments);
  PrintProblems(reading.problems);
  if (!reading.problems.empty()) return kUsage;
  core::ConfigureLog(reading.config.log);
  LogIgnored(reading.ignored);
  return daemon::Serve({std::string(arguments.Value("--config")), arguments.Values("--set")},
                       reading.config);
}

}  // namespace sluice::cli
