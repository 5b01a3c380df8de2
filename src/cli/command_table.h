#pragma once

#include <span>
#include <string_view>

#include "cli/arguments.h"

namespace sluice::cli {

// A name of two words is a command of a group.
struct Command {
  const CommandSpec& (*spec)();
  int (*run)(const Arguments& arguments);
};

// A group whose commands come in later versions; its name is taken so that scripts can ask.
struct Group {
  std::string_view name;
  std::string_view summary;
  std::string_view instead;
};

// All commands, in the order of --help and of the manual.
std::span<const Command> Commands();

std::span<const Group> GroupsNotBuilt();

}  // namespace sluice::cli
