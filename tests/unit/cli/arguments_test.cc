#include "cli/arguments.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sluice::cli {
namespace {

using Words = std::vector<std::string>;

CommandSpec Spec() {
  return {"try",
          "Try it.",
          "",
          {{"--config", "FILE", "a file"},
           {"--set", "KEY=VALUE", "a key", Repeat::kMany},
           {"--print", "", "print"},
           {"--secret", "", "not shown", Repeat::kOnce, Visibility::kHidden}},
          "FILE"};
}

std::string Complaint(const CommandSpec& spec, const Words& words) {
  const core::Result<Arguments> parsed = ParseArguments(spec, words);
  REQUIRE(!parsed.has_value());
  return parsed.error().message;
}

TEST_CASE("ParseArguments: options with and without values, and operands") {
  const auto parsed = ParseArguments(
      Spec(), {"a", "--config", "f", "--set=a=b", "--print", "--set", "--x", "-", "--", "--b"});
  REQUIRE(parsed.has_value());
  CHECK(parsed->Value("--config") == "f");
  CHECK(parsed->Values("--set") == Words{"a=b", "--x"});
  CHECK(parsed->Has("--print"));
  CHECK(!parsed->Has("--secret"));
  CHECK(parsed->operands() == Words{"a", "-", "--b"});
  CHECK(parsed->Value("--none", "fallback") == "fallback");
  CHECK(parsed->Values("--none").empty());
}

TEST_CASE("ParseArguments: mistakes are named with what to do") {
  CHECK(Complaint(Spec(), {"--confg", "f"}) ==
        "unknown option --confg of try; did you mean --config?");
  CHECK(Complaint(Spec(), {"--wholly-else"}) ==
        "unknown option --wholly-else of try; see sluice try --help");
  CHECK(Complaint(Spec(), {"-c"}).rfind("unknown option -c of try", 0) == 0);
  CHECK(Complaint(Spec(), {"--config"}) == "option --config needs a value: --config FILE");
  CHECK(Complaint(Spec(), {"--config=a", "--config=b"}) ==
        "option --config is given twice; keep one");
  CHECK(Complaint(Spec(), {"--print=1"}) == "option --print takes no value");
  CommandSpec no_operands = Spec();
  no_operands.operand_name = {};
  CHECK(Complaint(no_operands, {"x"}) == "try takes no operand, but was given x");
}

TEST_CASE("HelpText: shows every option but the hidden ones") {
  const std::string help = HelpText(Spec());
  CHECK(help.rfind("Usage: sluice try [--config FILE] [--set KEY=VALUE]... [--print]", 0) == 0);
  CHECK(help.find("--help") != std::string::npos);
  CHECK(help.find("--secret") == std::string::npos);
  CHECK(help.substr(0, help.find('\n')).ends_with(" [FILE...]"));
  CommandSpec both = Spec();
  both.operand_usage = "A B";
  CHECK(HelpText(both).find("] A B\n") != std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
