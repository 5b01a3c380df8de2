#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::streams {

// What serving an entry's settings needs to know beside their text: the member `topics` depends on
// the name that was asked for, unless it was configured.
struct ServedTopics {
  bool configured = false;  // the text has them, and is served as it stands
  // Where in the text the value of `topics` stands that has to be replaced; size 0: there is none,
  // it goes behind the last member, at `at`.
  std::uint32_t at = 0;
  std::uint32_t size = 0;
  std::optional<std::vector<std::string>> prefixes;  // topic_prefixes, absent or null: none
};

}  // namespace sluice::streams
