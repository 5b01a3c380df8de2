#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "validate/program.h"

namespace sluice::validate {

// Collects the values of `enum` and `const` of a schema, and writes them into its program in one
// go: all values become one text, read once by the reader that reads events too.
class ValueSetBuilder {
 public:
  // Takes the values of one keyword; returns the index of its ValueSet.
  std::uint32_t Add(const boost::json::value* values, std::size_t count);
  // Fills the program's values. False if they cannot be read back (nested too deep).
  bool Finish(Program& program);

 private:
  static void FillSet(Program& program, ValueSet& set);
  static void FillTable(Program& program, ValueSet& set, const std::vector<std::uint32_t>& strings);

  std::string text_;
  std::vector<Range> sets_;
  std::uint32_t count_ = 0;
};

}  // namespace sluice::validate
