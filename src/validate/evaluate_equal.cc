#include "validate/evaluate_equal.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace sluice::validate {
namespace {

// Up to this many elements or members, comparing all pairs is faster than hashing.
constexpr std::uint32_t kFewElements = 12;
constexpr std::uint32_t kFewMembers = 32;

std::uint64_t ProcessSeed() {
  static const std::uint64_t kSeed = [] {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32 | device()) | 1;
  }();
  return kSeed;
}

__extension__ using Wide = unsigned __int128;

std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xbf58476d1ce4e5b9ull);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

bool IsOfTypes(const Document& document, const Node& node, TypeMask types) {
  if ((types & TypeBit(node.kind())) == 0) return false;
  return node.kind() != Kind::kNumber || (types & kIntegralOnly) == 0 ||
         IsIntegral(document.Number(node));
}

}  // namespace

bool IsIntegral(double value) { return std::isinf(value) || std::trunc(value) == value; }

ValueEquality::ValueEquality() : seed_(ProcessSeed()) {}

bool ValueEquality::Equal(const Document& a_document, const Node* a, const Document& b_document,
                          const Node* b) {
  if (a->kind() != b->kind()) return false;
  switch (a->kind()) {
    case Kind::kNumber:
      return a_document.Number(*a) == b_document.Number(*b);
    case Kind::kString:
    case Kind::kKey:
      return a_document.String(*a) == b_document.String(*b);
    case Kind::kArray: {
      if (Document::Count(a) != Document::Count(b)) return false;
      const Node* const end = a + a->nodes();
      for (++a, ++b; a < end; a += a->nodes(), b += b->nodes()) {
        if (!Equal(a_document, a, b_document, b)) return false;
      }
      return true;
    }
    case Kind::kObject:
      return EqualObjects(a_document, a, b_document, b);
    default:
      return true;
  }
}

bool ValueEquality::EqualObjects(const Document& a_document, const Node* a,
                                 const Document& b_document, const Node* b) {
  const std::uint32_t count = Document::Count(a);
  if (count != Document::Count(b)) return false;
  if (count > kFewMembers) return EqualLargeObjects(a_document, a, b_document, b);
  const Node* const end = a + a->nodes();
  for (const Node* key = a + 1; key < end;) {
    const Node* value = key + 1;
    const Node* other = b_document.Find(b, a_document.String(*key));
    if (other == nullptr || !Equal(a_document, value, b_document, other)) return false;
    key = value + value->nodes();
  }
  return true;
}

void ValueEquality::PushMembers(const Document& document, const Node* object) {
  const std::size_t first = members_.size();
  const Node* const end = object + object->nodes();
  for (const Node* key = object + 1; key < end;) {
    members_.push_back({key->extra(), document.String(*key), key + 1});
    key = key + 1 + (key + 1)->nodes();
  }
  std::sort(members_.begin() + static_cast<std::ptrdiff_t>(first), members_.end());
}

bool ValueEquality::EqualLargeObjects(const Document& a_document, const Node* a,
                                      const Document& b_document, const Node* b) {
  const std::size_t first = members_.size();
  PushMembers(a_document, a);
  const std::size_t middle = members_.size();
  PushMembers(b_document, b);
  bool equal = true;
  for (std::size_t i = 0; equal && i < middle - first; ++i) {
    // By value: the comparison may grow the list.
    const Member mine = members_[first + i];
    const Member other = members_[middle + i];
    equal = mine.hash == other.hash && mine.name == other.name &&
            Equal(a_document, mine.value, b_document, other.value);
  }
  members_.resize(first);
  return equal;
}

bool ValueEquality::Contains(const Program& program, const ValueSet& set, const Document& document,
                             const Node* value) {
  switch (value->kind()) {
    case Kind::kNumber: {
      const double* first = program.numbers.data() + set.numbers.first;
      return std::binary_search(first, first + set.numbers.count, document.Number(*value));
    }
    case Kind::kString:
    case Kind::kKey: {
      if (set.table_mask == 0) return false;
      const std::string_view text = document.String(*value);
      const std::uint32_t hash = HashKey(text);
      const PropertySlot* table = program.value_slots.data() + set.table;
      for (std::uint32_t slot = hash & set.table_mask; table[slot].property != kNowhere;
           slot = (slot + 1) & set.table_mask) {
        if (table[slot].hash == hash &&
            program.values.String(program.values.nodes[table[slot].property]) == text) {
          return true;
        }
      }
      return false;
    }
    case Kind::kArray:
    case Kind::kObject:
      for (std::uint32_t i = 0; i < set.compounds.count; ++i) {
        const Node* other =
            program.values.nodes.data() + program.value_nodes[set.compounds.first + i];
        if (Equal(document, value, program.values, other)) return true;
      }
      return false;
    default:
      return (set.literals & TypeBit(value->kind())) != 0;
  }
}

std::uint64_t ValueEquality::HashText(std::string_view text) const {
  std::uint64_t hash = Mix(seed_, text.size());
  while (text.size() >= 8) {
    std::uint64_t block;
    std::memcpy(&block, text.data(), 8);
    hash = Mix(hash ^ block, seed_);
    text.remove_prefix(8);
  }
  std::uint64_t tail = 0;
  std::memcpy(&tail, text.data(), text.size());
  return Mix(hash ^ tail, seed_ + 1);
}

std::uint64_t ValueEquality::Hash(const Document& document, const Node* value) const {
  const auto kind = static_cast<std::uint64_t>(value->kind());
  switch (value->kind()) {
    case Kind::kNumber: {
      const double number = document.Number(*value) + 0.0;  // -0 becomes 0
      std::uint64_t bits;
      std::memcpy(&bits, &number, 8);
      return Mix(bits ^ seed_, kind + seed_);
    }
    case Kind::kString:
      return HashText(document.String(*value));
    case Kind::kArray: {
      std::uint64_t hash = Mix(seed_, kind);
      const Node* const end = value + value->nodes();
      for (++value; value < end; value += value->nodes()) {
        hash = Mix(hash ^ Hash(document, value), seed_ + 2);
      }
      return hash;
    }
    case Kind::kObject: {
      std::uint64_t sum = 0;  // a sum, since order does not count
      const Node* const end = value + value->nodes();
      for (const Node* key = value + 1; key < end; key = key + 1 + (key + 1)->nodes()) {
        sum += Mix(HashText(document.String(*key)) ^ seed_, Hash(document, key + 1));
      }
      return Mix(sum ^ seed_, kind + seed_);
    }
    default:
      return Mix(seed_, kind);
  }
}

void ValueEquality::SortByHash(const Document& document, const Node* array, TypeMask types) {
  entries_.clear();
  const Node* const end = array + array->nodes();
  std::uint32_t index = 0;
  for (const Node* item = array + 1; item < end; item += item->nodes(), ++index) {
    if (IsOfTypes(document, *item, types)) entries_.push_back({Hash(document, item), index, item});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.index < b.index;
  });
}

bool ValueEquality::HasDuplicates(const Document& document, const Node* array) {
  const std::uint32_t count = Document::Count(array);
  if (count < 2) return false;
  if (count > kFewElements) {
    return DuplicatePair(document, array, Unique::kAnyItems, kAllTypes).has_value();
  }
  const Node* const end = array + array->nodes();
  for (const Node* a = array + 1; a < end; a += a->nodes()) {
    for (const Node* b = a + a->nodes(); b < end; b += b->nodes()) {
      if (Equal(document, a, document, b)) return true;
    }
  }
  return false;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> ValueEquality::DuplicatePair(
    const Document& document, const Node* array, Unique unique, TypeMask types) {
  SortByHash(document, array, types);
  std::optional<std::pair<std::uint32_t, std::uint32_t>> best;
  const auto tell = [&](std::uint32_t i, std::uint32_t j) {
    if (!best || i > best->first) best = {i, j};
  };
  const bool any_items = unique == Unique::kAnyItems;
  // Equal values stand next to each other, in the order of the array; values that only share a
  // hash are stepped over.
  for (std::size_t n = 1; n < entries_.size(); ++n) {
    const Entry later = entries_[n];
    for (std::size_t m = n; m-- > 0 && entries_[m].hash == later.hash;) {
      const Entry earlier = entries_[m];
      if (!Equal(document, earlier.node, document, later.node)) continue;
      if (any_items) {
        tell(later.index, earlier.index);
      } else {
        tell(earlier.index, later.index);
      }
      break;
    }
  }
  return best;
}

}  // namespace sluice::validate
