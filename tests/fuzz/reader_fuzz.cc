#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "core/json_text.h"
#include "validate/editable_event.h"
#include "validate/json_string.h"
#include "validate/reader.h"

// Any bytes: what simdjson's own document reader accepts, ours accepts and reads alike; and what
// ours accepts is forwarded byte by byte, also with its blanks taken out.
namespace {

using namespace sluice::validate;

// Whether both readings are the same value. Duplicate keys are compared in text order, as simdjson
// keeps them.
bool Same(const Document& document, const Node* node, simdjson::dom::element element) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::NULL_VALUE:
      return node->kind() == Kind::kNull;
    case Type::BOOL:
      return node->kind() == (bool(element) ? Kind::kTrue : Kind::kFalse);
    case Type::STRING:
      return node->kind() == Kind::kString && document.String(*node) == std::string_view(element);
    case Type::INT64:
      return node->kind() == Kind::kNumber && document.Number(*node) == double(int64_t(element));
    case Type::UINT64:
      return node->kind() == Kind::kNumber && document.Number(*node) == double(uint64_t(element));
    case Type::DOUBLE:
      return node->kind() == Kind::kNumber && document.Number(*node) == double(element);
    case Type::ARRAY: {
      if (node->kind() != Kind::kArray) return false;
      const Node* child = node + 1;
      for (simdjson::dom::element inner : simdjson::dom::array(element)) {
        if (child >= node + node->nodes() || !Same(document, child, inner)) return false;
        child += child->nodes();
      }
      return child == node + node->nodes();
    }
    case Type::OBJECT: {
      if (node->kind() != Kind::kObject) return false;
      const Node* child = node + 1;
      for (auto [key, inner] : simdjson::dom::object(element)) {
        if (child >= node + node->nodes() || document.String(*child) != key ||
            !Same(document, child + 1, inner))
          return false;
        child += 1 + child[1].nodes();
      }
      return child == node + node->nodes();
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Exactly the padding that is asked for, so that a read beyond it is seen.
  const auto padded = std::make_unique<char[]>(size + kReadPadding);
  if (size > 0) std::memcpy(padded.get(), data, size);
  const std::string_view text(padded.get(), size);

  static Reader reader;
  static Document document;
  const auto read = reader.Read(text, {}, document);
  static simdjson::dom::parser parser;
  simdjson::dom::element element;
  const bool bom = text.starts_with("\xEF\xBB\xBF");
  const bool theirs =
      !bom && parser.parse(text.data(), text.size(), true).get(element) == simdjson::SUCCESS;
  if (theirs) {
    if (!read.has_value() || reader.replaced() != 0) __builtin_trap();
    if (!Same(document, document.nodes.data(), element)) __builtin_trap();
  }
  if (!read.has_value()) return 0;

  static EditableEvent event;
  const bool superseded = document.has_superseded;
  event.Load(document, 0);
  std::string out;
  event.AppendTo(out);
  if (!superseded && out != document.Text(document.nodes[0])) __builtin_trap();
  std::string compact;
  AppendWithoutBlanks(out, compact);
  const std::size_t length = compact.size();
  compact.append(kReadPadding, ' ');
  static Document again;
  static Reader second;
  if (!second.Read(std::string_view(compact).substr(0, length), {}, again)) __builtin_trap();
  if (again.has_blanks || again.has_superseded || again.nodes[0].nodes() != event.root()->nodes())
    __builtin_trap();
  return 0;
}
