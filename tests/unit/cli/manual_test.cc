#include "cli/manual.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "cli/command_table.h"
#include "daemon/config_docs.h"
#include "daemon/config_table.h"
#include "daemon/roff.h"

namespace sluice::cli {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Between spaces, quotes or parentheses.
bool HasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::string_view around = " '()";
    if (around.find(text[at - 1]) != std::string_view::npos &&
        around.find(text[at + word.size()]) != std::string_view::npos)
      return true;
  }
  return false;
}

TEST_CASE("RoffText: nothing in a text is taken for roff") {
  CHECK(daemon::RoffText("a-b \\n 'x'") == "a\\-b \\en \\(aqx\\(aq");
  CHECK(daemon::RoffText(".B\n.B") == "\\&.B\n\\&.B");
  CHECK(daemon::RoffText("`code` and **bold**") == "\\fBcode\\fR and \\fBbold\\fR");
  CHECK(daemon::RoffParagraphs("a\n\n* b\n  c\n") == "a\n.PP\n.IP \\(bu 2\nb\nc\n");
}

TEST_CASE("CommandManual: has each command with each option, and what is hidden is not there") {
  const std::string manual = CommandManual();
  for (const Command& command : Commands()) {
    const CommandSpec& spec = command.spec();
    const bool shown = spec.visibility == Visibility::kShown;
    const std::string head = ".SS sluice " + daemon::RoffText(spec.name) + '\n';
    CHECK_MESSAGE(Has(manual, head) == shown, spec.name);
    if (!shown) continue;
    const std::size_t begin = manual.find(head) + head.size();
    const std::string_view section =
        std::string_view(manual).substr(begin, manual.find("\n.S", begin) - begin);
    for (const OptionSpec& option : spec.options) {
      CHECK_MESSAGE(Has(section, ".TP\n\\fB" + daemon::RoffText(option.name) + "\\fR") ==
                        (option.visibility == Visibility::kShown),
                    spec.name << ' ' << option.name);
    }
  }
}

TEST_CASE("ConfigurationManual: has each key") {
  const std::string manual = daemon::ConfigurationManual();
  for (const daemon::ConfigKey& key : daemon::ConfigKeys()) {
    CHECK_MESSAGE(Has(manual, ".TP\n.B " + daemon::RoffText(key.name) + '\n'), key.name);
  }
}

TEST_CASE("completion: has each command, option and key") {
  for (const std::string& text : {BashCompletion(), ZshCompletion()}) {
    for (const Command& command : Commands()) {
      const CommandSpec& spec = command.spec();
      const std::string head = "\n    '" + std::string(spec.name) + "')\n";
      REQUIRE_MESSAGE(Has(text, head) == (spec.visibility == Visibility::kShown), spec.name);
      if (spec.visibility == Visibility::kHidden) continue;
      const std::size_t begin = text.find(head);
      const std::string_view part =
          std::string_view(text).substr(begin, text.find("\n      ;;\n", begin) - begin);
      for (const OptionSpec& option : spec.options) {
        CHECK_MESSAGE(Has(part, option.name) == (option.visibility == Visibility::kShown),
                      spec.name << ' ' << option.name);
      }
    }
    for (const daemon::ConfigKey& key : daemon::ConfigKeys()) {
      CHECK_MESSAGE(HasWord(text, key.name), key.name);
    }
  }
}

}  // namespace
}  // namespace sluice::cli
