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
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

NodeBuilder::Outcome NodeBuilder::Build(std::string_view text, const std::uint32_t* structurals,
                                        std::size_t count, int max_depth, Document& document) {
  text_ = text;
  next_ = structurals;
  end_ = structurals + count;
  next_backslash_ = 0;
  max_depth_ = max_depth;
  depth_ = 0;
  document_ = &document;
  node_ = document.nodes.data();
  outcome_ = {};
  gaps_ = 0;
  const void* backslash = std::memchr(text.data(), '\\', text.size());
  next_backslash_ = backslash ? static_cast<const char*>(backslash) - text.data() : text.size();
  if (frames_.size() < static_cast<std::size_t>(max_depth) + 1) frames_.resize(max_depth + 1);

  bool ok = Value();
  while (ok && depth_ > 0) ok = AfterValue();
  document.has_blanks = gaps_ != 0;
  if (ok && next_ != end_) Fail(Problem::kTrailingText, *next_);
  return outcome_;
}

// Reads one value; a container is only opened if it is not empty, its inside is read by
// AfterValue's loop.
bool NodeBuilder::Value() {
  if (next_ == end_) return Fail(Problem::kUnexpectedEnd, text_.size());
  const std::uint32_t at = *next_++;
  switch (text_[at]) {
    case '"':
      return String(at, Kind::kString, 0);
    case '{':
      return Open(at, Kind::kObject);
    case '[':
      return Open(at, Kind::kArray);
    case 't':
      return Literal(at, "true", Kind::kTrue);
    case 'f':
      return Literal(at, "false", Kind::kFalse);
    case 'n':
      return Literal(at, "null", Kind::kNull);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return NumberNode(at);
    default:
      return Fail(Problem::kUnexpectedCharacter, at);
  }
}

bool NodeBuilder::Open(std::uint32_t begin, Kind kind) {
  node_->begin = begin;
  node_->bits = static_cast<std::uint32_t>(kind);
  const char closing = kind == Kind::kObject ? '}' : ']';
  if (next_ == end_) return Fail(Problem::kUnexpectedEnd, text_.size());
  if (text_[*next_] == closing) {
    gaps_ |= (begin + 1) ^ *next_;
    node_->end = *next_++ + 1;
    gaps_ |= node_->end ^ *next_;
    node_->inside = 0;
    ++node_;
    return true;
  }
  if (depth_ == max_depth_) return Fail(Problem::kTooDeep, begin);
  Frame& frame = frames_[++depth_];
  gaps_ |= (begin + 1) ^ *next_;
  frame.node = static_cast<std::uint32_t>(node_ - document_->nodes.data());
  frame.count = 1;
  ++node_;
  if (kind == Kind::kArray) return Value();
  std::memset(frame.seen, 0, sizeof frame.seen);
  return Key();
}

bool NodeBuilder::Key() {
  if (next_ == end_) return Fail(Problem::kUnexpectedEnd, text_.size());
  const std::uint32_t at = *next_++;
  if (text_[at] != '"') return Fail(Problem::kUnexpectedCharacter, at);
  Node* key = node_;
  if (!String(at, Kind::kKey, 0)) return false;
  key->set_extra(HashKey(document_->String(*key)));
  NoteKey(frames_[depth_], *key);
  if (next_ == end_) return Fail(Problem::kUnexpectedEnd, text_.size());
  if (text_[*next_] != ':') return Fail(Problem::kUnexpectedCharacter, *next_);
  gaps_ |= (*next_ + 1) ^ next_[1];
  ++next_;
  return Value();
}

bool NodeBuilder::AfterValue() {
  if (next_ == end_) return Fail(Problem::kUnexpectedEnd, text_.size());
  const std::uint32_t at = *next_++;
  Frame& frame = frames_[depth_];
  const bool in_object = document_->nodes[frame.node].kind() == Kind::kObject;
  const char c = text_[at];
  if (depth_ > 1 || c == ',') gaps_ |= (at + 1) ^ *next_;  // what follows the root is nobody's
  if (c == ',') {
    ++frame.count;
    return in_object ? Key() : Value();
  }
  if (c != (in_object ? '}' : ']')) return Fail(Problem::kUnexpectedCharacter, at);
  Close(at + 1);
  return true;
}

void NodeBuilder::Close(std::uint32_t end) {
  Frame& frame = frames_[depth_--];
  Node& container = document_->nodes[frame.node];
  container.end = end;
  container.inside = static_cast<std::uint32_t>(node_ - &container) - 1;
  container.set_extra(std::min(frame.count, Node::kExtraMax));
  if (frame.count > kLargeObject && container.kind() == Kind::kObject)
    SupersedeInLargeObject(frame);
}

// Between the first byte of a string and the next structural character there is only the string and
// blanks: the last byte that is no blank is its closing quote.
bool NodeBuilder::String(std::uint32_t begin, Kind kind, std::uint32_t extra_flags) {
  std::uint32_t end = *next_;  // at the last one: the text's size
  while (IsBlank(text_[end - 1])) --end;
  gaps_ |= end ^ *next_;
  if (end - 1 == begin || text_[end - 1] != '"') return Fail(Problem::kUnclosedString, begin);
  node_->begin = begin;
  node_->end = end;
  node_->bits = static_cast<std::uint32_t>(kind) | extra_flags;
  if (next_backslash_ < end) {
    if (next_backslash_ < begin) {
      const void* found = std::memchr(text_.data() + begin, '\\', text_.size() - begin);
      next_backslash_ = found ? static_cast<const char*>(found) - text_.data() : text_.size();
    }
    if (next_backslash_ < end) {
      std::string& decoded = document_->decoded;
      node_->bits |= Node::kEscaped;
      node_->inside = document_->AddDecoded({});
      const std::size_t before = decoded.size();
      const std::size_t bad = DecodeJsonString(text_.substr(begin + 1, end - begin - 2), decoded);
      if (bad != std::string_view::npos) return Fail(Problem::kBadEscape, begin + 1 + bad);
      const auto length = static_cast<std::uint32_t>(decoded.size() - before);
      std::memcpy(decoded.data() + before - 4, &length, 4);
    }
  }
  ++node_;
  return true;
}

// A quote right behind a scalar is no structural of its own, so it must not end one.
bool NodeBuilder::EndsScalar(std::size_t at) const {
  if (at == text_.size()) return true;
  const char c = text_[at];
  return IsBlank(c) || c == ',' || c == '}' || c == ']' || c == ':' || c == '{' || c == '[';
}

bool NodeBuilder::Literal(std::uint32_t begin, std::string_view word, Kind kind) {
  if (text_.substr(begin, word.size()) != word || !EndsScalar(begin + word.size())) {
    return Fail(Problem::kBadLiteral, begin);
  }
  node_->begin = begin;
  node_->end = begin + static_cast<std::uint32_t>(word.size());
  gaps_ |= node_->end ^ *next_;
  node_->bits = static_cast<std::uint32_t>(kind);
  ++node_;
  return true;
}

// RFC 8259 section 6. Values are only worked out for small integers, the common case; others when
// they are asked for.
bool NodeBuilder::NumberNode(std::uint32_t begin) {
  const char* p = text_.data() + begin;
  const char* const end = text_.data() + text_.size();
  const bool negative = *p == '-';
  if (negative) ++p;
  const char* digits = p;
  std::uint32_t value = 0;
  while (p < end && IsDigit(*p)) value = value * 10 + static_cast<std::uint32_t>(*p++ - '0');
  const auto count = p - digits;
  if (count == 0 || (count > 1 && *digits == '0')) return Fail(Problem::kBadNumber, begin);
  std::uint32_t flags = Node::kInteger;
  if (p < end && *p == '.') {
    flags = 0;
    const char* fraction = ++p;
    while (p < end && IsDigit(*p)) ++p;
    if (p == fraction) return Fail(Problem::kBadNumber, begin);
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    flags = 0;
    if (++p < end && (*p == '+' || *p == '-')) ++p;
    const char* exponent = p;
    while (p < end && IsDigit(*p)) ++p;
    if (p == exponent) return Fail(Problem::kBadNumber, begin);
  }
  const auto stop = static_cast<std::uint32_t>(p - text_.data());
  if (!EndsScalar(stop)) return Fail(Problem::kBadNumber, begin);
  node_->inside = 0;
  if (flags != 0 && count <= 9 && !(negative && value == 0)) {
    flags |= Node::kSmallInt;
    const auto small = static_cast<std::int32_t>(value);
    node_->inside = static_cast<std::uint32_t>(negative ? -small : small);
  }
  node_->begin = begin;
  node_->end = stop;
  gaps_ |= stop ^ *next_;
  node_->bits = static_cast<std::uint32_t>(Kind::kNumber) | flags;
  ++node_;
  return true;
}

void NodeBuilder::NoteKey(Frame& frame, const Node& key) {
  if (frame.count > kLargeObject) return;  // Close looks through the whole object
  const std::uint32_t hash = key.extra();
  const std::uint64_t bit = std::uint64_t{1} << (hash & 63);
  std::uint64_t& word = frame.seen[hash >> 6 & 3];
  if (word & bit) SupersedeEarlier(frame, key);
  word |= bit;
}

void NodeBuilder::SupersedeEarlier(const Frame& frame, const Node& key) {
  const std::string_view name = document_->String(key);
  for (Node* k = document_->nodes.data() + frame.node + 1; k != &key;) {
    if (k->extra() == key.extra() && !k->has(Node::kSuperseded) && document_->String(*k) == name) {
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
