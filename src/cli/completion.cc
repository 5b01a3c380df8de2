#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_table.h"
#include "cli/manual.h"
#include "daemon/config_table.h"

namespace sluice::cli {
namespace {

// What completes a value is told by the name that the option's help gives it.
enum class ValueKind : std::uint8_t { kNone, kFile, kFolder, kKey, kWords, kOther };

ValueKind KindOf(std::string_view value_name) {
  if (value_name.empty()) return ValueKind::kNone;
  if (value_name == "FILE") return ValueKind::kFile;
  if (value_name == "DIR") return ValueKind::kFolder;
  if (value_name.starts_with("key")) return ValueKind::kKey;
  return value_name.find('|') == std::string_view::npos ? ValueKind::kOther : ValueKind::kWords;
}

std::string WordsOf(std::string_view value_name) {
  std::string words(value_name);
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

std::vector<const CommandSpec*> ShownCommands() {
  std::vector<const CommandSpec*> specs;
  for (const Command& command : Commands()) {
    if (command.spec().visibility == Visibility::kShown) specs.push_back(&command.spec());
  }
  return specs;
}

std::vector<OptionSpec> ShownOptions(const CommandSpec& spec) {
  std::vector<OptionSpec> options;
  for (const OptionSpec& option : spec.options) {
    if (option.visibility == Visibility::kShown) options.push_back(option);
  }
  options.push_back({"--help", "", "show the help of this command"});
  return options;
}

std::string_view GroupOf(std::string_view command) {
  const std::size_t space = command.find(' ');
  return space == std::string_view::npos ? std::string_view() : command.substr(0, space);
}

// Names of groups, each once, separated by `separator`.
std::string GroupNames(std::string_view separator) {
  std::string names;
  std::string_view last;
  for (const CommandSpec* spec : ShownCommands()) {
    const std::string_view group = GroupOf(spec->name);
    if (group.empty() || group == last) continue;
    if (!names.empty()) names += separator;
    names += last = group;
  }
  return names;
}

std::string KeyNames() {
  std::string names;
  for (const daemon::ConfigKey& key : daemon::ConfigKeys()) {
    if (!names.empty()) names += ' ';
    names += key.name;
  }
  return names;
}

// The first words of commands, or with a group the second words of its commands.
std::string CommandWords(std::string_view group) {
  std::string words;
  std::string_view last;
  for (const CommandSpec* spec : ShownCommands()) {
    if (!group.empty() && GroupOf(spec->name) != group) continue;
    const std::string_view word = group.empty() ? spec->name.substr(0, spec->name.find(' '))
                                                : spec->name.substr(group.size() + 1);
    if (word == last) continue;
    if (!words.empty()) words += ' ';
    words += last = word;
  }
  return words;
}

// 'text' for a shell.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + '\'';
}

std::string BashValue(const OptionSpec& option) {
  const std::string case_line = "        " + std::string(option.name) + ") ";
  switch (KindOf(option.value_name)) {
    case ValueKind::kNone:
      return {};
    case ValueKind::kFile:
      return case_line + "_sluice_files -f; return ;;\n";
    case ValueKind::kFolder:
      return case_line + "_sluice_files -d; return ;;\n";
    case ValueKind::kKey:
      return case_line + "_sluice_keys; return ;;\n";
    case ValueKind::kWords:
      return case_line + "_sluice_words " + Quoted(WordsOf(option.value_name)) + "; return ;;\n";
    case ValueKind::kOther:
      return case_line + "return ;;\n";
  }
  return {};
}

std::string BashCommand(const CommandSpec& spec) {
  std::string values;
  std::string names;
  for (const OptionSpec& option : ShownOptions(spec)) {
    values += BashValue(option);
    if (!names.empty()) names += ' ';
    names += option.name;
  }
  std::string out = "    " + Quoted(spec.name) + ")\n";
  if (!values.empty()) out += "      case $prev in\n" + values + "      esac\n";
  out += "      if [[ $cur == -* ]]; then _sluice_words " + Quoted(names) + "; return; fi\n";
  if (KindOf(spec.operand_name) == ValueKind::kFile) out += "      _sluice_files -f\n";
  return out + "      ;;\n";
}

// In zsh's _arguments brackets and colons have a meaning.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string ZshAction(std::string_view value_name) {
  switch (KindOf(value_name)) {
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kFolder:
      return "_files -/";
    case ValueKind::kKey:
      return "_sluice_keys";
    case ValueKind::kWords:
      return "(" + WordsOf(value_name) + ")";
    case ValueKind::kNone:
    case ValueKind::kOther:
      break;
  }
  return " ";  // says what is wanted, completes nothing
}

std::string ZshCommand(const CommandSpec& spec) {
  std::string out = "    " + Quoted(spec.name) + ")\n      _arguments -s -S";
  for (const OptionSpec& option : ShownOptions(spec)) {
    std::string argument = option.repeat == Repeat::kMany ? "*" : "";
    argument += std::string(option.name) + (option.value_name.empty() ? "" : "=");
    argument += '[' + ZshText(option.text) + ']';
    if (!option.value_name.empty())
      argument += ':' + ZshText(option.value_name) + ':' + ZshAction(option.value_name);
    out += " \\\n        " + Quoted(argument);
  }
  if (!spec.operand_name.empty()) {
    out += " \\\n        " +
           Quoted("*:" + ZshText(spec.operand_name) + ':' + ZshAction(spec.operand_name));
  }
  return out + "\n      ;;\n";
}

// 'name:summary' of the commands of a group; of all, if it is empty, with one line for each group.
std::string ZshDescriptions(std::string_view group) {
  std::string out;
  std::string_view last;
  for (const CommandSpec* spec : ShownCommands()) {
    const std::string_view of = GroupOf(spec->name);
    if (!group.empty() && of != group) continue;
    if (group.empty() && !of.empty()) {
      if (of != last) out += "\n      " + Quoted(std::string(of) + ":" + CommandWords(of));
      last = of;
      continue;
    }
    const std::string_view word = group.empty() ? spec->name : spec->name.substr(group.size() + 1);
    out += "\n      " + Quoted(std::string(word) + ":" + ZshText(spec->summary));
  }
  return out;
}

}  // namespace

std::string BashCompletion() {
  std::string out = R"(# bash completion for sluice

_sluice_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_sluice_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}
_sluice_keys() {
  compopt -o nospace 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -S = -W ')" +
                    KeyNames() + R"(' -- "$cur")
}

_sluice() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  # --option=value is three words here.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then _sluice_words ')" +
                    CommandWords("") + R"( --help --version'; return; fi
  local command=${COMP_WORDS[1]}
  case $command in
)";
  std::string groups = GroupNames(" ");
  for (std::string_view rest = groups; !rest.empty();) {
    const std::string_view group = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), group.size() + 1));
    out += "    " + std::string(group) + ")\n      if ((COMP_CWORD == 2)); then _sluice_words " +
           Quoted(CommandWords(group) + " --help") + "; return; fi\n" +
           "      command+=\" ${COMP_WORDS[2]}\"\n      ;;\n";
  }
  out += "  esac\n  case $command in\n";
  for (const CommandSpec* spec : ShownCommands()) out += BashCommand(*spec);
  return out + "  esac\n}\n\ncomplete -F _sluice sluice\n";
}

std::string ZshCompletion() {
  std::string out = "#compdef sluice\n\n_sluice_keys() {\n  local -a keys\n  keys=(" + KeyNames() +
                    ")\n  compadd -S = -a keys\n}\n\n_sluice() {\n  local curcontext=$curcontext "
                    "command\n  local -a commands\n  if ((CURRENT == 2)); then\n    commands=(" +
                    ZshDescriptions("") +
                    "\n      '--help:show what commands there are'\n"
                    "      '--version:show the version'\n    )\n"
                    "    _describe command commands\n    return\n  fi\n  command=$words[2]\n  case "
                    "$command in\n";
  std::string groups = GroupNames(" ");
  for (std::string_view rest = groups; !rest.empty();) {
    const std::string_view group = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), group.size() + 1));
    out += "    " + std::string(group) + ")\n      if ((CURRENT == 3)); then\n        commands=(" +
           ZshDescriptions(group) +
           "\n        )\n        _describe command commands\n        return\n      fi\n"
           "      command+=\" $words[3]\"\n      shift words\n      ((CURRENT--))\n      ;;\n";
  }
  out += "  esac\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const CommandSpec* spec : ShownCommands()) out += ZshCommand(*spec);
  return out + "  esac\n}\n\n_sluice \"$@\"\n";
}

}  // namespace sluice::cli
