#include "validate/node_builder.h"

#include <algorithm>
#include <cstring>

#include "validate/json_string.h"

namespace sluice::validate {
namespace {

// Above this many members duplicates are looked for by sorting, so that no body makes the search
// quadratic.
constexpr std::uint32_t kLargeObject = 64;

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

}  // namespace

// The state of a walk over the tokens. It is only fast while it lives in registers: nothing that is
// called may keep a reference to it, so what takes one is inlined.
struct NodeBuilder::Walk {
  const char* text;
  std::uint32_t size;
  std::uint32_t backslash;    // the first one that is not before the current string
  const std::uint32_t* next;  // the token to read next
  const std::uint32_t* end;
  Node* node;               // the node to write next
  std::uint32_t inner = 0;  // bytes of scalars, without the first of each
  std::uint32_t at = 0;     // the current token
  Problem problem = Problem::kNone;
};

#define SLUICE_INLINE inline __attribute__((always_inline))

NodeBuilder::Outcome NodeBuilder::Build(std::string_view text, const std::uint32_t* structurals,
                                        std::size_t count, int max_depth, Document& document) {
  document_ = &document;
  max_depth_ = max_depth;
  if (frames_.size() < static_cast<std::size_t>(max_depth) + 1) frames_.resize(max_depth + 1);
  // Where the last token closes a container, each token that closes none is followed by another.
  const char first = text[structurals[0]];
  const char last = text[structurals[count - 1]];
  const bool closed = (first == '{' || first == '[') && (last == '}' || last == ']');
  return closed ? Run<LastToken::kCloses>(text, structurals, count)
                : Run<LastToken::kAny>(text, structurals, count);
}

// One loop over all tokens, and one function, since everything in it is one state. Its jumps are
// the grammar: a container that opens goes on with its first key or value, and behind each value
// stands what its container allows.
template <NodeBuilder::LastToken kLast>
NodeBuilder::Outcome NodeBuilder::Run(std::string_view text, const std::uint32_t* structurals,
                                      std::size_t count) {
  const void* const backslash = std::memchr(text.data(), '\\', text.size());
  Walk walk;
  walk.text = text.data();
  walk.size = static_cast<std::uint32_t>(text.size());
  walk.backslash =
      backslash == nullptr
          ? walk.size
          : static_cast<std::uint32_t>(static_cast<const char*>(backslash) - text.data());
  walk.next = structurals;
  walk.end = structurals + count;
  walk.node = document_->nodes.data();
  Frame* const outermost = frames_.data();
  Frame* const innermost = outermost + max_depth_;
  Frame* frame = outermost;   // of the container that we are in; the outermost is none
  bool in_object = false;     // that container is one
  std::uint32_t members = 0;  // or elements of it, so far
  const auto at_end = [&] { return kLast == LastToken::kAny && walk.next == walk.end; };

value:
  if (at_end()) goto unexpected_end;
  walk.at = *walk.next++;
  if (const char c = walk.text[walk.at]; c == '{' || c == '[') {
    const bool object = c == '{';
    Node* const node = walk.node++;
    node->begin = walk.at;
    node->bits = static_cast<std::uint32_t>(object ? Kind::kObject : Kind::kArray);
    if (at_end()) goto unexpected_end;
    if (walk.text[*walk.next] == (object ? '}' : ']')) {
      node->end = *walk.next++ + 1;
      node->inside = 0;
      goto after;
    }
    if (frame == innermost) {
      walk.problem = Problem::kTooDeep;
      goto failed;
    }
    ++frame;
    frame->node = node;
    frame->outer_members = members;
    frame->outer_is_object = in_object;
    in_object = object;
    members = 1;
    if (!object) goto value;
    std::memset(frame->seen, 0, sizeof frame->seen);
  } else {
    if (!Scalar<kLast>(walk, c)) goto failed;
    goto after;
  }

key:
  if (at_end()) goto unexpected_end;
  walk.at = *walk.next++;
  if (walk.text[walk.at] != '"') goto unexpected_character;
  {
    Node* const key = walk.node;
    if (!String(walk, Kind::kKey)) goto failed;
    if (at_end()) goto unexpected_end;
    walk.at = *walk.next++;
    if (walk.text[walk.at] != ':') goto unexpected_character;
    const std::uint32_t hash = SetHash(walk.text, key);
    if (members <= kLargeObject) {  // a larger object is looked through as a whole at its end
      const std::uint64_t bit = std::uint64_t{1} << (hash & 63);
      std::uint64_t& word = frame->seen[hash >> 6 & 3];
      if ((word & bit) != 0) SupersedeEarlier(frame->node, key);
      word |= bit;
    }
  }
  goto value;

after:
  if (frame == outermost) goto finished;
  if (walk.next == walk.end) goto unexpected_end;
  walk.at = *walk.next++;
  if (walk.text[walk.at] == ',') {
    ++members;
    if (in_object) goto key;
    goto value;
  }
  if (walk.text[walk.at] != (in_object ? '}' : ']')) goto unexpected_character;
  {
    Node* const node = frame->node;
    node->end = walk.at + 1;
    node->inside = static_cast<std::uint32_t>(walk.node - node) - 1;
    node->set_extra(std::min(members, Node::kExtraMax));
    if (in_object && members > kLargeObject) SupersedeInLargeObject(node);
  }
  members = frame->outer_members;
  in_object = frame->outer_is_object;
  --frame;
  goto after;

finished:
  if (walk.next != walk.end) return {Problem::kTrailingText, *walk.next};
  // Without blanks the tokens fill the text of the root: each is one byte, and a scalar `inner`
  // more.
  document_->has_blanks = count + walk.inner != document_->nodes[0].end - document_->nodes[0].begin;
  return {};

unexpected_character:
  return {Problem::kUnexpectedCharacter, walk.at};
unexpected_end:
  return {Problem::kUnexpectedEnd, text.size()};
failed:
  return {walk.problem, walk.at};
}

template <NodeBuilder::LastToken kLast>
SLUICE_INLINE bool NodeBuilder::Scalar(Walk& walk, char first) {
  switch (first) {
    case '"':
      return String(walk, Kind::kString);
    case 't':
      return Literal(walk, "true", Kind::kTrue);
    case 'f':
      return Literal(walk, "false", Kind::kFalse);
    case 'n':
      return Literal(walk, "null", Kind::kNull);
    default:
      if (first == '-' || IsDigit(first)) return Number<kLast>(walk);
      walk.problem = Problem::kUnexpectedCharacter;
      return false;
  }
}

SLUICE_INLINE void NodeBuilder::Write(Walk& walk, std::uint32_t end, std::uint32_t bits) {
  Node& node = *walk.node++;
  node.begin = walk.at;
  node.end = end;
  node.bits = bits;
  walk.inner += end - walk.at - 1;
}

// Between the first byte of a string and the next token there is only the string and blanks: the
// last byte that is no blank is its closing quote.
SLUICE_INLINE bool NodeBuilder::String(Walk& walk, Kind kind) {
  std::uint32_t end = *walk.next;  // at the last one: the text's size
  if (walk.text[end - 1] != '"') [[unlikely]] {
    while (IsBlank(walk.text[end - 1])) --end;
  }
  if (end - 1 == walk.at || walk.text[end - 1] != '"') [[unlikely]] {
    walk.problem = Problem::kUnclosedString;
    return false;
  }
  Write(walk, end, static_cast<std::uint32_t>(kind));
  if (walk.backslash >= end) [[likely]]
    return true;
  walk.backslash = Escaped({walk.text, walk.size}, walk.backslash, walk.node[-1]);
  if (bad_escape_ == kNoByte) return true;
  walk.problem = Problem::kBadEscape;
  walk.at = bad_escape_;
  return false;
}

// Some backslash stands before the end of this string: in it, or in one before it.
std::uint32_t NodeBuilder::Escaped(std::string_view text, std::uint32_t backslash, Node& node) {
  bad_escape_ = kNoByte;
  if (backslash < node.begin) {
    const std::size_t found = text.find('\\', node.begin);
    backslash = static_cast<std::uint32_t>(std::min(found, text.size()));
    if (backslash >= node.end) return backslash;
  }
  std::string& decoded = document_->decoded;
  node.bits |= Node::kEscaped;
  node.inside = document_->AddDecoded({});
  const std::size_t before = decoded.size();
  const std::size_t bad =
      DecodeJsonString(text.substr(node.begin + 1, node.end - node.begin - 2), decoded);
  if (bad != std::string_view::npos) {
    bad_escape_ = node.begin + 1 + static_cast<std::uint32_t>(bad);
    return backslash;
  }
  const auto length = static_cast<std::uint32_t>(decoded.size() - before);
  std::memcpy(decoded.data() + before - 4, &length, 4);
  return backslash;
}

SLUICE_INLINE std::uint32_t NodeBuilder::SetHash(const char* text, Node* key) {
  const std::uint32_t hash = key->has(Node::kEscaped)
                                 ? HashKey(document_->String(*key))
                                 : HashPaddedKey(text + key->begin + 1, key->end - key->begin - 2);
  key->set_extra(hash);
  return hash;
}

// A number or a word ends where the next token begins, or at a blank. Nothing else that may follow
// it is a token of its own: a quote, say, is not.
SLUICE_INLINE bool NodeBuilder::EndsScalar(const Walk& walk, std::uint32_t end) {
  return end == *walk.next || (end < *walk.next && IsBlank(walk.text[end]));
}

template <std::size_t kSize>
SLUICE_INLINE bool NodeBuilder::Literal(Walk& walk, const char (&word)[kSize], Kind kind) {
  const std::uint32_t end = walk.at + static_cast<std::uint32_t>(kSize - 1);
  if (std::memcmp(walk.text + walk.at, word, kSize - 1) != 0 || !EndsScalar(walk, end)) {
    walk.problem = Problem::kBadLiteral;
    return false;
  }
  Write(walk, end, static_cast<std::uint32_t>(kind));
  return true;
}

// RFC 8259 section 6. Values are only worked out for small integers, the common case; others when
// they are asked for. Where a bracket is still to come, it ends each loop.
template <NodeBuilder::LastToken kLast>
SLUICE_INLINE bool NodeBuilder::Number(Walk& walk) {
  const char* p = walk.text + walk.at;
  const char* const end = walk.text + walk.size;
  const auto is_digit = [&] { return (kLast == LastToken::kCloses || p < end) && IsDigit(*p); };
  const auto is = [&](char a, char b) {
    return (kLast == LastToken::kCloses || p < end) && (*p == a || *p == b);
  };
  walk.problem = Problem::kBadNumber;
  const bool negative = *p == '-';
  if (negative) ++p;
  const char* const digits = p;
  std::uint32_t value = 0;
  while (is_digit()) value = value * 10 + static_cast<std::uint32_t>(*p++ - '0');
  const auto count = p - digits;
  if (count == 0 || (count > 1 && *digits == '0')) return false;
  std::uint32_t flags = Node::kInteger;
  if (is('.', '.')) {
    flags = 0;
    const char* const fraction = ++p;
    while (is_digit()) ++p;
    if (p == fraction) return false;
  }
  if (is('e', 'E')) {
    flags = 0;
    ++p;
    if (is('+', '-')) ++p;
    const char* const exponent = p;
    while (is_digit()) ++p;
    if (p == exponent) return false;
  }
  const auto stop = static_cast<std::uint32_t>(p - walk.text);
  if (!EndsScalar(walk, stop)) return false;
  walk.node->inside = 0;
  if (flags != 0 && count <= 9 && !(negative && value == 0)) {
    flags |= Node::kSmallInt;
    walk.node->inside = negative ? 0 - value : value;
  }
  Write(walk, stop, static_cast<std::uint32_t>(Kind::kNumber) | flags);
  return true;
}

void NodeBuilder::SupersedeEarlier(Node* object, const Node* key) {
  const std::string_view name = document_->String(*key);
  for (Node* k = object + 1; k != key;) {
    if (k->extra() == key->extra() && !k->has(Node::kSuperseded) && document_->String(*k) == name) {
      k->bits |= Node::kSuperseded;
      document_->has_superseded = true;
      return;
    }
    k += 1 + k[1].nodes();
  }
}

void NodeBuilder::SupersedeInLargeObject(Node* object) {
  Node* const nodes = document_->nodes.data();
  keys_.clear();
  const Node* const end = object + object->nodes();
  for (Node* k = object + 1; k != end; k += 1 + k[1].nodes()) {
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
