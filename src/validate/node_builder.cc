#include "validate/node_builder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "validate/json_string.h"

namespace sluice::validate {
namespace {

// Above this many members duplicates are looked for by sorting, so that no body makes the search
// quadratic.
constexpr std::uint32_t kLargeObject = 64;

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// What may stand right behind a number or a word. A quote there is no structural of its own, so it
// must not end one.
constexpr auto kEndsScalar = [] {
  std::array<bool, 256> ends{};
  for (const char c : {' ', '\n', '\r', '\t', ',', '}', ']', ':', '{', '['}) {
    ends[static_cast<unsigned char>(c)] = true;
  }
  return ends;
}();

}  // namespace

struct NodeBuilder::Walk {
  std::string_view text;
  const std::uint32_t* next;  // the structural to read next
  const std::uint32_t* end;
  Node* node;                  // the node to write next
  std::size_t next_backslash;  // the first one that is not before the current string
  std::uint32_t gaps = 0;      // not 0: some token does not begin where the one before it ended
  Document* document;
  Outcome outcome;
};

// The walk is only fast as one function: its state stays in registers.
#define SLUICE_INLINE inline __attribute__((always_inline))

SLUICE_INLINE bool NodeBuilder::Fail(Walk& walk, Problem problem, std::size_t at) {
  walk.outcome = {problem, at};
  return false;
}

NodeBuilder::Outcome NodeBuilder::Build(std::string_view text, const std::uint32_t* structurals,
                                        std::size_t count, int max_depth, Document& document) {
  max_depth_ = max_depth;
  document_ = &document;
  if (frames_.size() < static_cast<std::size_t>(max_depth) + 1) frames_.resize(max_depth + 1);
  const void* backslash = std::memchr(text.data(), '\\', text.size());
  Walk walk{text, structurals, structurals + count, document.nodes.data(), 0, 0, &document, {}};
  walk.next_backslash = backslash ? static_cast<const char*>(backslash) - text.data() : text.size();
  Run(walk);
  document.has_blanks = walk.gaps != 0;
  return walk.outcome;
}

// One loop over all tokens. Its jumps are the grammar: a container that opens goes on with its
// first key or value, and behind each value stands what its container allows.
SLUICE_INLINE void NodeBuilder::Run(Walk& walk) {
  Node* const nodes = document_->nodes.data();
  const char* const text = walk.text.data();
  int depth = 0;
  Frame* frame = nullptr;
  bool in_object = false;
  std::uint32_t at = 0;

value:
  if (walk.next == walk.end) return void(Fail(walk, Problem::kUnexpectedEnd, walk.text.size()));
  at = *walk.next++;
  if (text[at] != '{' && text[at] != '[') {
    if (!Scalar(walk, at)) return;
    goto after;
  }
  {
    const bool object = text[at] == '{';
    walk.node->begin = at;
    walk.node->bits = static_cast<std::uint32_t>(object ? Kind::kObject : Kind::kArray);
    if (walk.next == walk.end) return void(Fail(walk, Problem::kUnexpectedEnd, walk.text.size()));
    walk.gaps |= (at + 1) ^ *walk.next;
    if (text[*walk.next] == (object ? '}' : ']')) {
      walk.node->end = *walk.next++ + 1;
      walk.node->inside = 0;
      if (depth > 0) walk.gaps |= walk.node->end ^ *walk.next;
      ++walk.node;
      goto after;
    }
    if (depth == max_depth_) return void(Fail(walk, Problem::kTooDeep, at));
    frame = &frames_[++depth];
    frame->node = static_cast<std::uint32_t>(walk.node - nodes);
    frame->count = 1;
    ++walk.node;
    in_object = object;
    if (!object) goto value;
    std::memset(frame->seen, 0, sizeof frame->seen);
  }

key:
  if (!Key(walk, *frame)) return;
  goto value;

after:
  if (depth == 0) {
    if (walk.next != walk.end) Fail(walk, Problem::kTrailingText, *walk.next);
    return;
  }
  if (walk.next == walk.end) return void(Fail(walk, Problem::kUnexpectedEnd, walk.text.size()));
  at = *walk.next++;
  if (text[at] == ',') {
    walk.gaps |= (at + 1) ^ *walk.next;
    ++frame->count;
    if (in_object) goto key;
    goto value;
  }
  if (text[at] != (in_object ? '}' : ']')) {
    return void(Fail(walk, Problem::kUnexpectedCharacter, at));
  }
  if (depth > 1) walk.gaps |= (at + 1) ^ *walk.next;  // what follows the root is nobody's
  {
    Node& container = nodes[frame->node];
    container.end = at + 1;
    container.inside = static_cast<std::uint32_t>(walk.node - &container) - 1;
    container.set_extra(std::min(frame->count, Node::kExtraMax));
    if (in_object && frame->count > kLargeObject) SupersedeInLargeObject(*frame);
  }
  frame = &frames_[--depth];
  in_object = depth > 0 && nodes[frame->node].kind() == Kind::kObject;
  goto after;
}

SLUICE_INLINE bool NodeBuilder::Key(Walk& walk, Frame& frame) {
  if (walk.next == walk.end) return Fail(walk, Problem::kUnexpectedEnd, walk.text.size());
  const std::uint32_t at = *walk.next++;
  if (walk.text[at] != '"') return Fail(walk, Problem::kUnexpectedCharacter, at);
  Node* const key = walk.node;
  if (!String(walk, at, Kind::kKey)) return false;
  if (walk.next == walk.end) return Fail(walk, Problem::kUnexpectedEnd, walk.text.size());
  const std::uint32_t colon = *walk.next;
  if (walk.text[colon] != ':') return Fail(walk, Problem::kUnexpectedCharacter, colon);
  ++walk.next;
  walk.gaps |= (colon + 1) ^ *walk.next;

  const std::uint32_t hash =
      key->has(Node::kEscaped)
          ? HashKey(walk.document->String(*key))
          : HashPaddedKey(walk.text.data() + key->begin + 1, key->end - key->begin - 2);
  key->set_extra(hash);
  if (frame.count <= kLargeObject) {  // a larger object is looked through as a whole at its end
    const std::uint64_t bit = std::uint64_t{1} << (hash & 63);
    std::uint64_t& word = frame.seen[hash >> 6 & 3];
    if (word & bit) SupersedeEarlier(frame, key);
    word |= bit;
  }
  return true;
}

SLUICE_INLINE bool NodeBuilder::Scalar(Walk& walk, std::uint32_t at) {
  switch (walk.text[at]) {
    case '"':
      return String(walk, at, Kind::kString);
    case 't':
      return Literal(walk, at, "true", Kind::kTrue);
    case 'f':
      return Literal(walk, at, "false", Kind::kFalse);
    case 'n':
      return Literal(walk, at, "null", Kind::kNull);
    default:
      if (walk.text[at] == '-' || IsDigit(walk.text[at])) return Number(walk, at);
      return Fail(walk, Problem::kUnexpectedCharacter, at);
  }
}

// Between the first byte of a string and the next structural character there is only the string and
// blanks: the last byte that is no blank is its closing quote.
SLUICE_INLINE bool NodeBuilder::String(Walk& walk, std::uint32_t begin, Kind kind) {
  std::uint32_t end = *walk.next;  // at the last one: the text's size
  if (walk.text[end - 1] != '"') [[unlikely]] {
    while (IsBlank(walk.text[end - 1])) --end;
  }
  walk.gaps |= end ^ *walk.next;
  if (end - 1 == begin || walk.text[end - 1] != '"') [[unlikely]] {
    return Fail(walk, Problem::kUnclosedString, begin);
  }
  Node& node = *walk.node++;
  node.begin = begin;
  node.end = end;
  node.bits = static_cast<std::uint32_t>(kind);
  if (walk.next_backslash < end) [[unlikely]]
    return Escaped(walk, node);
  return true;
}

// Some backslash stands before the end of this string: in it, or in one before it.
bool NodeBuilder::Escaped(Walk& walk, Node& node) {
  if (walk.next_backslash < node.begin) {
    const std::string_view rest = walk.text.substr(node.begin);
    const std::size_t found = rest.find('\\');
    walk.next_backslash = found == std::string_view::npos ? walk.text.size() : node.begin + found;
    if (walk.next_backslash >= node.end) return true;
  }
  std::string& decoded = walk.document->decoded;
  node.bits |= Node::kEscaped;
  node.inside = walk.document->AddDecoded({});
  const std::size_t before = decoded.size();
  const std::size_t bad =
      DecodeJsonString(walk.text.substr(node.begin + 1, node.end - node.begin - 2), decoded);
  if (bad != std::string_view::npos) {
    return Fail(walk, Problem::kBadEscape, node.begin + 1 + bad);
  }
  const auto length = static_cast<std::uint32_t>(decoded.size() - before);
  std::memcpy(decoded.data() + before - 4, &length, 4);
  return true;
}

SLUICE_INLINE bool NodeBuilder::Literal(Walk& walk, std::uint32_t begin, std::string_view word,
                                        Kind kind) {
  const auto end = begin + static_cast<std::uint32_t>(word.size());
  if (walk.text.substr(begin, word.size()) != word ||
      (end != walk.text.size() && !kEndsScalar[static_cast<unsigned char>(walk.text[end])])) {
    return Fail(walk, Problem::kBadLiteral, begin);
  }
  walk.gaps |= end ^ *walk.next;
  Node& node = *walk.node++;
  node.begin = begin;
  node.end = end;
  node.bits = static_cast<std::uint32_t>(kind);
  return true;
}

// RFC 8259 section 6. Values are only worked out for small integers, the common case; others when
// they are asked for. The padding behind the text ends each loop.
SLUICE_INLINE bool NodeBuilder::Number(Walk& walk, std::uint32_t begin) {
  const char* p = walk.text.data() + begin;
  const char* const end = walk.text.data() + walk.text.size();
  const bool negative = *p == '-';
  if (negative) ++p;
  const char* const digits = p;
  std::uint32_t value = 0;
  while (p < end && IsDigit(*p)) value = value * 10 + static_cast<std::uint32_t>(*p++ - '0');
  const auto count = p - digits;
  if (count == 0 || (count > 1 && *digits == '0')) return Fail(walk, Problem::kBadNumber, begin);
  std::uint32_t flags = Node::kInteger;
  if (p < end && *p == '.') {
    flags = 0;
    const char* const fraction = ++p;
    while (p < end && IsDigit(*p)) ++p;
    if (p == fraction) return Fail(walk, Problem::kBadNumber, begin);
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    flags = 0;
    if (++p < end && (*p == '+' || *p == '-')) ++p;
    const char* const exponent = p;
    while (p < end && IsDigit(*p)) ++p;
    if (p == exponent) return Fail(walk, Problem::kBadNumber, begin);
  }
  if (p != end && !kEndsScalar[static_cast<unsigned char>(*p)]) {
    return Fail(walk, Problem::kBadNumber, begin);
  }
  Node& node = *walk.node++;
  node.begin = begin;
  node.end = static_cast<std::uint32_t>(p - walk.text.data());
  node.inside = 0;
  if (flags != 0 && count <= 9 && !(negative && value == 0)) {
    flags |= Node::kSmallInt;
    node.inside = negative ? 0 - value : value;
  }
  node.bits = static_cast<std::uint32_t>(Kind::kNumber) | flags;
  walk.gaps |= node.end ^ *walk.next;
  return true;
}

void NodeBuilder::SupersedeEarlier(const Frame& frame, Node* key) {
  const std::string_view name = document_->String(*key);
  for (Node* k = document_->nodes.data() + frame.node + 1; k != key;) {
    if (k->extra() == key->extra() && !k->has(Node::kSuperseded) && document_->String(*k) == name) {
      k->bits |= Node::kSuperseded;
      document_->has_superseded = true;
      return;
    }
    k += 1 + k[1].nodes();
  }
}

void NodeBuilder::SupersedeInLargeObject(const Frame& frame) {
  Node* const nodes = document_->nodes.data();
  keys_.clear();
  const Node* const end = nodes + frame.node + nodes[frame.node].nodes();
  for (Node* k = nodes + frame.node + 1; k != end; k += 1 + k[1].nodes()) {
    keys_.push_back(static_cast<std::uint32_t>(k - nodes));
  }
  const auto name = [&](std::uint32_t k) { return document_->String(nodes[k]); };
  std::sort(keys_.begin(), keys_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (nodes[a].extra() != nodes[b].extra()) return nodes[a].extra() < nodes[b].extra();
    const int order = name(a).compare(name(b));
    return order != 0 ? order < 0 : a < b;
  });
  for (std::size_t i = 1; i < keys_.size(); ++i) {
    if (nodes[keys_[i - 1]].extra() == nodes[keys_[i]].extra() &&
        name(keys_[i - 1]) == name(keys_[i])) {
      nodes[keys_[i - 1]].bits |= Node::kSuperseded;
      document_->has_superseded = true;
    }
  }
}

}  // namespace sluice::validate
