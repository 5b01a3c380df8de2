#include "cli/commands.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/command_table.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "core/suggest.h"
#include "core/version.h"

namespace sluice::cli {
namespace {

std::string MainHelp() {
  std::string help =
      "Usage: sluice <command> [options]\n\nSluice takes events over HTTP, holds each against its "
      "JSON "
      "Schema, and writes it to the Kafka topic of its stream.\n\nCommands:\n";
  const auto append = [&](std::string_view name, std::string_view text) {
    help +=
        "  " + std::string(name) + std::string(18 - name.size(), ' ') + std::string(text) + '\n';
  };
  for (const Command& command : Commands()) {
    const CommandSpec& spec = command.spec();
    if (spec.visibility == Visibility::kShown) append(spec.name, spec.summary);
  }
  help += "\nGroups of commands that are not built yet:\n";
  for (const Group& group : GroupsNotBuilt()) append(group.name, group.summary);
  return help +
         "\nOptions:\n  --help        show this text, or after a command its own\n"
         "  --version     show the version\n";
}

int RunGroup(const Group& group, const std::vector<std::string>& words) {
  const std::string name(group.name);
  const std::string text =
      "The commands of sluice " + name + " are not built yet. " + std::string(group.instead) + '\n';
  if (std::find(words.begin(), words.end(), "--help") != words.end()) {
    Print(stdout,
          "Usage: sluice " + name + " <command>\n\n" + std::string(group.summary) + "\n\n" + text);
    return kGood;
  }
  Print(stderr, text);
  return kUsage;
}

int RunCommand(const Command& command, const std::vector<std::string>& words) {
  const CommandSpec& spec = command.spec();
  if (std::find(words.begin(), words.end(), "--help") != words.end()) {
    Print(stdout, HelpText(spec));
    return kGood;
  }
  const core::Result<Arguments> arguments = ParseArguments(spec, words);
  if (!arguments) return Misused(arguments.error().message);
  return command.run(*arguments);
}

bool IsOfGroup(const Command& command, std::string_view group) {
  const std::string_view name = command.spec().name;
  return name.size() > group.size() && name.starts_with(group) && name[group.size()] == ' ';
}

// `sluice <group> …` without one of the group's commands: says which there are.
int RunGroupOf(const std::string& group, const std::vector<std::string>& words) {
  std::string text = "Usage: sluice " + group + " <command> [options]\n\nCommands:\n";
  std::vector<std::pair<std::string_view, std::string_view>> rows;
  std::size_t width = 0;
  for (const Command& command : Commands()) {
    if (!IsOfGroup(command, group)) continue;
    rows.emplace_back(command.spec().name.substr(group.size() + 1), command.spec().summary);
    width = std::max(width, rows.back().first.size());
  }
  for (const auto& [name, summary] : rows) {
    text += "  " + std::string(name) + std::string(width - name.size() + 2, ' ') +
            std::string(summary) + '\n';
  }
  const bool help = std::find(words.begin(), words.end(), "--help") != words.end();
  Print(help ? stdout : stderr, text);
  return help ? kGood : kUsage;
}

int UnknownCommand(const std::string& name) {
  std::vector<std::string_view> names = {"--help", "--version"};
  for (const Command& command : Commands()) names.push_back(command.spec().name);
  for (const Group& group : GroupsNotBuilt()) names.push_back(group.name);
  const std::string_view nearest = core::Nearest(name, names);
  return Misused(
      "unknown command " + name +
      (nearest.empty() ? "; see sluice --help" : "; did you mean " + std::string(nearest) + "?"));
}

}  // namespace

int Run(const std::vector<std::string>& words) {
  if (words.empty()) {
    Print(stderr, MainHelp());
    return kUsage;
  }
  const std::string& name = words.front();
  if (name == "--help") {
    Print(stdout, MainHelp());
    return kGood;
  }
  if (name == "--version") {
    Print(stdout, "sluice " + std::string(core::kVersion) + '\n');
    return kGood;
  }
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  const std::string two_words = rest.empty() ? name : name + ' ' + rest.front();
  for (const Command& command : Commands()) {
    if (command.spec().name == name) return RunCommand(command, rest);
    if (command.spec().name == two_words)
      return RunCommand(command, {rest.begin() + 1, rest.end()});
  }
  for (const Group& group : GroupsNotBuilt()) {
    if (group.name == name) return RunGroup(group, rest);
  }
  if (std::any_of(Commands().begin(), Commands().end(),
                  [&](const Command& command) { return IsOfGroup(command, name); }))
    return RunGroupOf(name, rest);
  return UnknownCommand(name);
}

}  // namespace sluice::cli
