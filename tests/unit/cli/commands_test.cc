#include "cli/commands.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "core/version.h"
#include "unit/cli/run_captured.h"

namespace sluice::cli {
namespace {

TEST_CASE("sluice: help and version are good, nothing and nonsense are wrong usage") {
  CHECK(RunCaptured({"--version"}).out == "sluice " + std::string(core::kVersion) + '\n');
  const Outcome help = RunCaptured({"--help"});
  CHECK(help.code == kGood);
  for (const char* name :
       {"serve", "check-config", "validate", "kafka", "schemas", "streams", "spool", "datasets"}) {
    CHECK_MESSAGE(Has(help.out, name), name);
  }
  CHECK(RunCaptured({}).code == kUsage);
  const Outcome unknown = RunCaptured({"chek-config"});
  CHECK(unknown.code == kUsage);
  CHECK(unknown.err == "sluice: unknown command chek-config; did you mean check-config?\n");
}

TEST_CASE("sluice: each command and group has help") {
  for (const char* name :
       {"serve", "check-config", "validate", "kafka", "schemas", "streams", "spool", "datasets"}) {
    const Outcome help = RunCaptured({name, "--help"});
    CHECK(help.code == kGood);
    CHECK(help.out.rfind("Usage: sluice " + std::string(name), 0) == 0);
  }
  const Outcome group = RunCaptured({"schemas", "lint"});
  CHECK(group.code == kUsage);
  CHECK(Has(group.err, "not built yet"));
}

TEST_CASE("sluice check-config: exit codes and what is printed") {
  const Outcome good = RunCaptured({"check-config", "--set", "schema_base_uris=[/s]"});
  CHECK(good.code == kGood);
  CHECK(good.out == "The configuration is good.\n");
  const Outcome bad = RunCaptured({"check-config", "--set", "prot=1"});
  CHECK(bad.code == kUsage);
  CHECK(Has(bad.err, "--set: prot: is not a known key; did you mean port?\n"));
  CHECK(Has(bad.err, "2 problems in the configuration\n"));
  const Outcome printed = RunCaptured({"check-config", "--print", "--set", "schema_base_uris=[/s]",
                                       "--set", "kafka.conf.sasl.password=hush"});
  CHECK(printed.code == kGood);
  CHECK(Has(printed.out, "schema_base_uris: [/s]\n"));
  CHECK(!Has(printed.out, "hush"));
}

TEST_CASE("sluice serve: does not start with a configuration that is wrong") {
  CHECK(RunCaptured({"serve", "--set", "port=x"}).code == kUsage);
}

TEST_CASE("sluice validate: wrong usage is named") {
  CHECK(RunCaptured({"validate"}).code == kUsage);
  const Outcome mode = RunCaptured({"validate", "--base-uri", "/tmp", "--format-mode", "slow"});
  CHECK(mode.code == kUsage);
  CHECK(Has(mode.err, "--format-mode is slow; give fast or full"));
  CHECK(RunCaptured({"validate", "--base-uri", "/nowhere/at/all"}).code == kUsage);
  const Outcome file = RunCaptured({"validate", "--base-uri", "/tmp", "/nowhere/events"});
  CHECK(file.code == kUsage);
  CHECK(Has(file.err, "cannot open /nowhere/events: No such file or directory"));
}

}  // namespace
}  // namespace sluice::cli
