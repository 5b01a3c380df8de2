#include "validate/value_set_builder.h"

#include <algorithm>

#include "validate/reader.h"
#include "validate/schema_text.h"

namespace sluice::validate {

std::uint32_t ValueSetBuilder::Add(const boost::json::value* values, std::size_t count) {
  sets_.push_back({count_, static_cast<std::uint32_t>(count)});
  for (std::size_t i = 0; i < count; ++i) {
    if (count_ > 0) text_.push_back(',');
    AppendJson(text_, values[i]);
    ++count_;
  }
  return static_cast<std::uint32_t>(sets_.size() - 1);
}

bool ValueSetBuilder::Finish(Program& program) {
  if (sets_.empty()) return true;
  std::string& text = program.values_text;
  text.reserve(text_.size() + 2 + kReadPadding);
  text.append("[").append(text_).append("]");
  const std::size_t length = text.size();
  text.append(kReadPadding, ' ');
  Reader reader;
  ReadOptions options;
  options.max_depth = 1100;
  if (!reader.Read(std::string_view(text).substr(0, length), options, program.values)) return false;
  if (reader.replaced() > 0) return false;
  const auto& nodes = program.values.nodes;
  program.value_nodes.reserve(count_);
  for (std::uint32_t at = 1; at < 1 + nodes[0].inside; at += nodes[at].nodes()) {
    program.value_nodes.push_back(at);
  }
  for (const Range& range : sets_) {
    ValueSet& set = program.value_sets.emplace_back();
    set.values = range;
    FillSet(program, set);
  }
  return true;
}

void ValueSetBuilder::FillSet(Program& program, ValueSet& set) {
  std::vector<std::uint32_t> strings;
  std::vector<std::uint32_t> compounds;
  set.numbers.first = static_cast<std::uint32_t>(program.numbers.size());
  for (std::uint32_t i = 0; i < set.values.count; ++i) {
    const std::uint32_t at = program.value_nodes[set.values.first + i];
    const Node& node = program.values.nodes[at];
    switch (node.kind()) {
      case Kind::kNumber:
        program.numbers.push_back(program.values.Number(node));
        break;
      case Kind::kString:
        strings.push_back(at);
        break;
      case Kind::kArray:
      case Kind::kObject:
        compounds.push_back(at);
        break;
      default:
        set.literals = static_cast<TypeMask>(set.literals | TypeBit(node.kind()));
    }
  }
  std::sort(program.numbers.begin() + set.numbers.first, program.numbers.end());
  set.numbers.count = static_cast<std::uint32_t>(program.numbers.size()) - set.numbers.first;
  set.compounds.first = static_cast<std::uint32_t>(program.value_nodes.size());
  set.compounds.count = static_cast<std::uint32_t>(compounds.size());
  program.value_nodes.insert(program.value_nodes.end(), compounds.begin(), compounds.end());
  if (!strings.empty()) FillTable(program, set, strings);
}

void ValueSetBuilder::FillTable(Program& program, ValueSet& set,
                                const std::vector<std::uint32_t>& strings) {
  std::uint32_t size = 4;
  while (size < strings.size() * 2) size *= 2;
  set.table = static_cast<std::uint32_t>(program.value_slots.size());
  set.table_mask = size - 1;
  program.value_slots.resize(program.value_slots.size() + size);
  PropertySlot* table = program.value_slots.data() + set.table;
  for (const std::uint32_t at : strings) {
    const std::uint32_t hash = HashKey(program.values.String(program.values.nodes[at]));
    std::uint32_t slot = hash & set.table_mask;
    while (table[slot].property != kNowhere) slot = (slot + 1) & set.table_mask;
    table[slot] = {hash, at};
  }
}

}  // namespace sluice::validate
