#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

// A field that is not as the client sent it.
struct Change {
  std::string field;   // "meta.dt"
  std::string value;   // JSON text
  std::string before;  // the client's value; empty: there was none
  std::string source;  // where the new one is from, for a person
};

// How `after` differs from `before`, two JSON texts, field by field in the order of `after`.
std::vector<Change> ChangesBetween(std::string_view before, std::string_view after);

}  // namespace sluice::cli
