#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace sluice::cli {

enum class Repeat : std::uint8_t { kOnce, kMany };
enum class Visibility : std::uint8_t { kShown, kHidden };  // hidden ones work, but --help is silent

struct OptionSpec {
  std::string_view name;        // "--config"
  std::string_view value_name;  // "FILE"; empty: the option takes no value
  std::string_view text;
  Repeat repeat = Repeat::kOnce;
  Visibility visibility = Visibility::kShown;
};

struct CommandSpec {
  std::string_view name;
  std::string_view summary;
  std::string_view text;  // more for --help
  std::vector<OptionSpec> options;
  std::string_view operand_name = {};  // "FILE"; empty: operands are refused
  Visibility visibility = Visibility::kShown;
  // Which operands the command takes, if not "[FILE...]": "A B".
  std::string_view operand_usage = {};
};

// The options and operands of one command line.
class Arguments {
 public:
  bool Has(std::string_view option) const { return values_.contains(option); }
  // The value of an option given once, or `fallback`.
  std::string_view Value(std::string_view option, std::string_view fallback = {}) const;
  // All values of an option, in order.
  const std::vector<std::string>& Values(std::string_view option) const;
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  friend core::Result<Arguments> ParseArguments(const CommandSpec&,
                                                const std::vector<std::string>&);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

// Reads what stands behind the command's name: "--option value", "--option=value", "--flag",
// operands, and "--" before operands that begin with a dash. "--help" needs no entry in the spec.
// Fails with a sentence that suggests the nearest option.
core::Result<Arguments> ParseArguments(const CommandSpec& spec,
                                       const std::vector<std::string>& words);

// The operands in the first line of a command's help: "[FILE...]"; empty if there are none.
std::string OperandUsage(const CommandSpec& spec);

// What `sluice <command> --help` prints.
std::string HelpText(const CommandSpec& spec);

}  // namespace sluice::cli
