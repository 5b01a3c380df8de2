#include "cli/arguments.h"

#include <algorithm>
#include <utility>

#include "core/suggest.h"

namespace sluice::cli {
namespace {

constexpr OptionSpec kHelp{"--help", "", "show this text"};

core::Error Usage(std::string message) { return {core::ErrorCode::kInternal, std::move(message)}; }

const OptionSpec* FindOption(const CommandSpec& spec, std::string_view name) {
  if (name == kHelp.name) return &kHelp;
  const auto found = std::find_if(spec.options.begin(), spec.options.end(),
                                  [&](const OptionSpec& option) { return option.name == name; });
  return found == spec.options.end() ? nullptr : &*found;
}

core::Error UnknownOption(const CommandSpec& spec, std::string_view name) {
  std::vector<std::string_view> names = {kHelp.name};
  for (const OptionSpec& option : spec.options) names.push_back(option.name);
  const std::string_view nearest = core::Nearest(name, names);
  std::string message = "unknown option " + std::string(name) + " of " + std::string(spec.name);
  message += nearest.empty() ? "; see sluice " + std::string(spec.name) + " --help"
                             : "; did you mean " + std::string(nearest) + "?";
  return Usage(std::move(message));
}

}  // namespace

std::string_view Arguments::Value(std::string_view option, std::string_view fallback) const {
  const auto found = values_.find(option);
  return found == values_.end() ? fallback : std::string_view(found->second.back());
}

const std::vector<std::string>& Arguments::Values(std::string_view option) const {
  static const std::vector<std::string> kNone;
  const auto found = values_.find(option);
  return found == values_.end() ? kNone : found->second;
}

core::Result<Arguments> ParseArguments(const CommandSpec& spec,
                                       const std::vector<std::string>& words) {
  Arguments arguments;
  bool only_operands = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!only_operands && word == "--") {
      only_operands = true;
      continue;
    }
    if (only_operands || !word.starts_with('-') || word == "-") {
      if (spec.operand_name.empty()) {
        return Usage(std::string(spec.name) + " takes no operand, but was given " + word);
      }
      arguments.operands_.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const OptionSpec* option = FindOption(spec, name);
    if (option == nullptr) return UnknownOption(spec, name);
    std::vector<std::string>& values = arguments.values_[name];
    if (!values.empty() && option->repeat == Repeat::kOnce)
      return Usage("option " + name + " is given twice; keep one");
    if (option->value_name.empty()) {
      if (equals != std::string::npos) return Usage("option " + name + " takes no value");
      values.emplace_back();
    } else if (equals != std::string::npos) {
      values.push_back(word.substr(equals + 1));
    } else if (i + 1 < words.size()) {
      values.push_back(words[++i]);
    } else {
      return Usage("option " + name + " needs a value: " + name + ' ' +
                   std::string(option->value_name));
    }
  }
  return arguments;
}

std::string OperandUsage(const CommandSpec& spec) {
  if (!spec.operand_usage.empty()) return std::string(spec.operand_usage);
  if (spec.operand_name.empty()) return {};
  return '[' + std::string(spec.operand_name) + "...]";
}

std::string HelpText(const CommandSpec& spec) {
  std::string usage = "Usage: sluice " + std::string(spec.name);
  std::vector<std::pair<std::string, std::string_view>> rows;
  std::vector<OptionSpec> options = spec.options;
  options.push_back(kHelp);
  std::size_t width = 0;
  for (const OptionSpec& option : options) {
    if (option.visibility == Visibility::kHidden) continue;
    std::string left(option.name);
    if (!option.value_name.empty()) left += ' ' + std::string(option.value_name);
    usage += " [" + left + ']' + (option.repeat == Repeat::kMany ? "..." : "");
    width = std::max(width, left.size());
    rows.emplace_back(std::move(left), option.text);
  }
  const std::string operands = OperandUsage(spec);
  if (!operands.empty()) usage += ' ' + operands;
  std::string help = usage + "\n\n" + std::string(spec.summary) + "\n";
  if (!spec.text.empty()) help += '\n' + std::string(spec.text) + '\n';
  help += "\nOptions:\n";
  for (const auto& [left, text] : rows) {
    help += "  " + left + std::string(width - left.size() + 2, ' ') + std::string(text) + '\n';
  }
  return help;
}

}  // namespace sluice::cli
