#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::validate {

enum class Kind : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject, kKey };

// One value of a parsed text, or one key of an object; 16 bytes. Values stand in text order: after
// an array its elements, after an object key, value, key, value …
struct Node {
  // Where the value's text begins and ends (one past), as addresses of Document::Text. Strings and
  // keys include their quotes, containers their brackets.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  // kArray, kObject: how many nodes are inside, so that the next sibling is this node + 1 + inside.
  // kString, kKey with kEscaped: where in Document::decoded the decoded bytes lie, length first.
  // kNumber with kSmallInt: the value, as int32.
  std::uint32_t inside = 0;
  std::uint32_t bits = 0;  // kind (3), flags (5), and 24 bits of extra

  static constexpr std::uint32_t kEscaped = 1u << 3;  // string or key has a backslash
  static constexpr std::uint32_t kReserved = 1u << 4;
  static constexpr std::uint32_t kSmallInt =
      1u << 5;  // number without point or exponent, fits int32, not -0
  static constexpr std::uint32_t kInteger = 1u << 6;  // number without point or exponent
  static constexpr std::uint32_t kSuperseded =
      1u << 7;  // key that stands again later in its object: the last counts
  static constexpr std::uint32_t kExtraMax = (1u << 24) - 1;

  Kind kind() const { return static_cast<Kind>(bits & 7); }
  bool has(std::uint32_t flag) const { return (bits & flag) != 0; }
  // kArray: elements, kObject: members, saturated at kExtraMax. kKey: a hash of the decoded key
  // (HashKey).
  std::uint32_t extra() const { return bits >> 8; }
  void set_extra(std::uint32_t v) { bits = (bits & 0xff) | (v << 8); }
  std::uint32_t nodes() const {  // this node and all inside it
    return kind() >= Kind::kArray && kind() != Kind::kKey ? 1 + inside : 1;
  }
  bool is_container() const { return kind() == Kind::kArray || kind() == Kind::kObject; }
};
static_assert(sizeof(Node) == 16);

// The hash that key nodes carry, 24 bits, of the decoded bytes. Stable within a process only.
// `first` and `last` are the first and the last eight bytes, or, of a shorter key, all of them
// before zeros. The upper bits of a product depend on all bits of its factors, and of the factors'
// sum, which counts for short keys, too.
inline std::uint32_t MixKey(std::uint64_t first, std::uint64_t last, std::size_t size) {
  const std::uint64_t h = first * 0x9e3779b97f4a7c15ull + (last + size) * 0x94d049bb133111eaull;
  return static_cast<std::uint32_t>(h >> 40);
}

inline std::uint64_t MiddleOfKey(const char* key, std::size_t size) {
  std::uint64_t middle;
  std::memcpy(&middle, key + size / 2 - 4, 8);
  return middle * 0x9e3779b97f4a7c15ull;
}

inline std::uint32_t HashKey(std::string_view key) {
  std::uint64_t first = 0;
  if (key.size() < 8) {
    std::memcpy(&first, key.data(), key.size());
    return MixKey(first, first, key.size());
  }
  std::uint64_t last;
  std::memcpy(&first, key.data(), 8);
  std::memcpy(&last, key.data() + key.size() - 8, 8);
  if (key.size() > 16) last ^= MiddleOfKey(key.data(), key.size());
  return MixKey(first, last, key.size());
}

// HashKey of a key behind whose begin eight bytes are readable, without a branch on its size.
inline std::uint32_t HashPaddedKey(const char* key, std::size_t size) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  static constexpr std::uint64_t kMasks[9] = {
      0, kAll >> 56, kAll >> 48, kAll >> 40, kAll >> 32, kAll >> 24, kAll >> 16, kAll >> 8, kAll};
  std::uint64_t first;
  std::uint64_t last;
  const std::size_t short_size = size < 8 ? size : 8;
  std::memcpy(&first, key, 8);
  std::memcpy(&last, key + (size - short_size), 8);
  first &= kMasks[short_size];
  last &= kMasks[short_size];
  if (size > 16) last ^= MiddleOfKey(key, size);
  return MixKey(first, last, size);
}

// A parsed text: nodes over bytes that the caller keeps alive, plus text that was added to it. One
// address space: an address below the body's size is a byte of the body, one above it a byte of
// `added`. Not thread-safe; meant to be reused, since its buffers keep their capacity.
class Document {
 public:
  std::string_view body;  // not owned
  std::vector<Node>
      nodes;  // nodes[0] is the root; those behind the root's own are left from earlier texts
  bool has_superseded = false;  // some key is kSuperseded
  bool has_blanks = false;      // some blank stands between tokens (outside strings)
  std::string added;            // texts of enrichment and defaults; only ever appended to
  std::string decoded;  // decoded strings with escapes, each with its length (4 bytes) before it

  // Bytes from `begin` to `end` as they stand in the body, or as they were added. They never
  // straddle.
  std::string_view Text(std::uint32_t begin, std::uint32_t end) const {
    const char* p =
        begin < body.size() ? body.data() + begin : added.data() + (begin - body.size());
    return {p, end - begin};
  }
  std::string_view Text(const Node& n) const { return Text(n.begin, n.end); }

  // The decoded content of a kString or kKey. UTF-8, but lone surrogates as three bytes each
  // (WTF-8), so that the number of code points is what JavaScript counts.
  std::string_view String(const Node& n) const {
    if (!n.has(Node::kEscaped)) return Text(n.begin + 1, n.end - 1);
    std::uint32_t length;
    std::memcpy(&length, decoded.data() + n.inside, 4);
    return {decoded.data() + n.inside + 4, length};
  }

  // The IEEE double that JavaScript reads from a kNumber: infinity where it overflows.
  double Number(const Node& n) const {
    return n.has(Node::kSmallInt) ? static_cast<std::int32_t>(n.inside) : ParseNumber(Text(n));
  }

  // Members of an object or elements of an array, also above Node::kExtraMax.
  static std::uint32_t Count(const Node* n);

  // The value of the member `key` of an object, or null; the last one of duplicates. Linear.
  const Node* Find(const Node* object, std::string_view key) const {
    return Find(object, key, HashKey(key));
  }
  const Node* Find(const Node* object, std::string_view key, std::uint32_t hash) const;

  // Appends `text` to `decoded` and returns where, for Node::inside of an escaped string.
  std::uint32_t AddDecoded(std::string_view text);

  void Clear();

  static double ParseNumber(std::string_view text);
};

}  // namespace sluice::validate
