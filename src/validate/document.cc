#include "validate/document.h"

#include <charconv>
#include <cstdlib>
#include <system_error>

namespace sluice::validate {

std::uint32_t Document::Count(const Node* n) {
  if (n->extra() < Node::kExtraMax) return n->extra();
  std::uint32_t count = 0;
  const Node* end = n + n->nodes();
  for (const Node* child = n + 1; child < end; child += child->nodes()) ++count;
  return n->kind() == Kind::kObject ? count / 2 : count;
}

const Node* Document::Find(const Node* object, std::string_view key, std::uint32_t hash) const {
  if (object->kind() != Kind::kObject) return nullptr;
  const Node* end = object + object->nodes();
  for (const Node* k = object + 1; k < end;) {
    const Node* value = k + 1;
    if (k->extra() == hash && !k->has(Node::kSuperseded) && String(*k) == key) return value;
    k = value + value->nodes();
  }
  return nullptr;
}

std::uint32_t Document::AddDecoded(std::string_view text) {
  const auto at = static_cast<std::uint32_t>(decoded.size());
  const auto length = static_cast<std::uint32_t>(text.size());
  decoded.append(reinterpret_cast<const char*>(&length), 4);
  decoded.append(text);
  return at;
}

void Document::Clear() {
  body = {};
  has_superseded = false;
  has_blanks = false;
  added.clear();
  decoded.clear();
}

double Document::ParseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{}) return value;
  // Out of range: strtod tells infinity from zero. Rare enough for a copy (strtod wants a
  // terminator).
  return std::strtod(std::string(text).c_str(), nullptr);
}

}  // namespace sluice::validate
