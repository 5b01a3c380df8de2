#include "validate/compiled_schema.h"

#include <algorithm>

#include "validate/program.h"

namespace sluice::validate {
namespace {

template <class T>
std::size_t BytesOf(const std::vector<T>& items) {
  return items.capacity() * sizeof(T);
}

}  // namespace

std::size_t Program::MemoryBytes() const {
  std::size_t bytes = sizeof(Program);
  bytes += BytesOf(schemas) + BytesOf(objects) + BytesOf(properties) + BytesOf(slots);
  bytes += BytesOf(arrays) + BytesOf(rests) + BytesOf(alternatives) + BytesOf(schemas_in_lists);
  bytes += BytesOf(pattern_properties) + BytesOf(dependencies) + BytesOf(references);
  bytes += BytesOf(value_sets) + BytesOf(value_nodes) + BytesOf(value_slots) + BytesOf(numbers);
  bytes += BytesOf(values.nodes) + values.decoded.capacity() + values_text.capacity();
  bytes += BytesOf(details) + BytesOf(property_details) + BytesOf(texts) + pool.capacity();
  // A compiled expression's own tables cannot be asked for; RE2's stay near this size.
  constexpr std::size_t kPatternBytes = 4096;
  return bytes + patterns.size() * kPatternBytes;
}

CompiledSchema::CompiledSchema() = default;
CompiledSchema::~CompiledSchema() = default;

CompiledSchema::Declared CompiledSchema::Declares(std::string_view dotted_path) const {
  const auto place =
      std::lower_bound(declared_.begin(), declared_.end(), dotted_path,
                       [](const auto& entry, std::string_view path) { return entry.first < path; });
  return place != declared_.end() && place->first == dotted_path ? place->second : Declared::kNo;
}

std::size_t CompiledSchema::memory_bytes() const {
  std::size_t bytes = sizeof(CompiledSchema) + program_->MemoryBytes() + uri_.capacity();
  for (const auto& [path, declared] : declared_) bytes += sizeof(declared) + path.capacity() + 32;
  return bytes;
}

}  // namespace sluice::validate
