#include "cli/manual.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "cli/command_table.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "daemon/config_docs.h"
#include "daemon/roff.h"

namespace sluice::cli {
namespace {

using daemon::RoffText;

std::string Bold(std::string_view text) { return "\\fB" + RoffText(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + RoffText(text) + "\\fR"; }

std::string WithValue(const OptionSpec& option) {
  std::string text = Bold(option.name);
  if (!option.value_name.empty()) text += ' ' + Italic(option.value_name);
  return text;
}

void AppendCommand(std::string& out, const CommandSpec& spec) {
  out += ".SS sluice " + RoffText(spec.name) + '\n';
  out += Bold("sluice " + std::string(spec.name));
  for (const OptionSpec& option : spec.options) {
    if (option.visibility == Visibility::kHidden) continue;
    out += " [" + WithValue(option) + ']' + (option.repeat == Repeat::kMany ? "..." : "");
  }
  if (const std::string operands = OperandUsage(spec); !operands.empty()) {
    out += ' ' + Italic(operands);
  }
  out += "\n.PP\n" + RoffText(spec.summary) + '\n';
  if (!spec.text.empty()) out += daemon::RoffParagraphs(spec.text);
  for (const OptionSpec& option : spec.options) {
    if (option.visibility == Visibility::kHidden) continue;
    out += ".TP\n" + WithValue(option) + '\n' + RoffText(option.text) + '\n';
  }
}

}  // namespace

std::string CommandManual() {
  std::string out = daemon::RoffTitle("sluice", "1", "User commands");
  out +=
      ".SH NAME\nsluice \\- HTTP intake of events: checked against JSON Schema, written to Kafka\n"
      ".SH SYNOPSIS\n.B sluice\n.I command\n[options]\n.br\n.B sluice \\-\\-version\n.br\n"
      ".B sluice\n[\\fIcommand\\fR]\n.B \\-\\-help\n.SH DESCRIPTION\n"
      "Sluice takes events over HTTP as JSON, holds each against the JSON Schema that it names, "
      "completes it, and writes it to the Kafka topic of its stream.\n"
      "An option may be given as \\fB\\-\\-option value\\fR or \\fB\\-\\-option=value\\fR; behind "
      "\\fB\\-\\-\\fR there are operands only.\n.SH COMMANDS\n";
  for (const Command& command : Commands()) {
    if (command.spec().visibility == Visibility::kShown) AppendCommand(out, command.spec());
  }
  return out +
         ".SH EXIT STATUS\n"
         ".TP\n.B 0\ngood; of serve: stopped, nothing lost\n"
         ".TP\n.B 1\nwhat was checked is bad\n"
         ".TP\n.B 2\nwrong usage or configuration\n"
         ".TP\n.B 3\nof serve: stopped with loss, the log says of how many events\n"
         ".TP\n.B 70\na defect of the program\n"
         ".SH SIGNALS\n"
         ".TP\n.B SIGTERM\nserve stops: it finishes what it has taken, within "
         "\\fBshutdown.deadline\\fR\n"
         ".TP\n.B SIGHUP\nserve reads its configuration again, as \\fBsluice reload\\fR asks for\n"
         ".SH FILES\n"
         ".TP\n.I /etc/sluice/sluice.yaml\nthe configuration that the systemd units name; no "
         "command reads it unless \\fB\\-\\-config\\fR says so\n"
         ".TP\n.I /var/lib/sluice\nthe spool and whatever else the daemon keeps\n"
         ".SH SEE ALSO\n.BR sluice.yaml (5),\n.BR kcat (1)\n";
}

const CommandSpec& PrintDocsSpec() {
  static const CommandSpec spec = {
      .name = "print-docs",
      .summary = "Print a man page or a completion, made of the tables that the program works by.",
      .text = "man: sluice(1), man-config: sluice.yaml(5), bash and zsh: completion of commands.",
      .options = {},
      .operand_name = "man|man-config|bash|zsh",
      .visibility = Visibility::kHidden,
      .operand_usage = "[man|man-config|bash|zsh]"};
  return spec;
}

int PrintDocs(const Arguments& arguments) {
  const std::string kind =
      arguments.operands().size() == 1 ? arguments.operands().front() : std::string();
  if (kind == "man") {
    Print(stdout, CommandManual());
  } else if (kind == "man-config") {
    Print(stdout, daemon::ConfigurationManual());
  } else if (kind == "bash") {
    Print(stdout, BashCompletion());
  } else if (kind == "zsh") {
    Print(stdout, ZshCompletion());
  } else {
    return Misused("print-docs needs one of man, man-config, bash, zsh");
  }
  return kGood;
}

}  // namespace sluice::cli
