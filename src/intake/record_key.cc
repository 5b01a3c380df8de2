#include "intake/record_key.h"

#include <algorithm>

#include "core/json_text.h"
#include "validate/js_number.h"

namespace sluice::intake {
namespace {

using validate::Document;
using validate::Kind;
using validate::Node;

void AppendNumber(const Document& document, const Node& node, std::string& out) {
  const double value = document.Number(node);
  if (value - value != 0) {
    out += "null";  // JSON.stringify of an infinity
  } else {
    validate::AppendJsNumber(out, value);
  }
}

// Depth is bounded by the reader's limit on nesting.
void AppendStringified(const Document& document, const Node* node, std::string& out) {
  switch (node->kind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kFalse:
      out += "false";
      return;
    case Kind::kTrue:
      out += "true";
      return;
    case Kind::kNumber:
      AppendNumber(document, *node, out);
      return;
    case Kind::kString:
    case Kind::kKey:
      core::AppendJsonString(out, document.String(*node));
      return;
    case Kind::kArray:
    case Kind::kObject:
      break;
  }
  const bool object = node->kind() == Kind::kObject;
  out += object ? '{' : '[';
  const Node* const end = node + node->nodes();
  for (const Node* child = node + 1; child < end;) {
    if (child != node + 1) out += ',';
    if (object) {
      core::AppendJsonString(out, document.String(*child));
      out += ':';
      ++child;
    }
    AppendStringified(document, child, out);
    child += child->nodes();
  }
  out += object ? '}' : ']';
}

std::vector<std::string> Split(std::string_view dotted) {
  std::vector<std::string> steps;
  while (true) {
    const std::size_t dot = dotted.find('.');
    steps.emplace_back(dotted.substr(0, dot));
    if (dot == std::string_view::npos) return steps;
    dotted.remove_prefix(dot + 1);
  }
}

}  // namespace

RecordKey::RecordKey(const core::StringPairs& message_key_fields) {
  std::vector<std::string> open;  // names of the objects that are open, below the root
  std::string before = "{";
  for (const auto& [key_path, event_path] : message_key_fields) {
    const std::vector<std::string> steps = Split(key_path);
    std::size_t common = 0;
    while (common < open.size() && common + 1 < steps.size() && open[common] == steps[common])
      ++common;
    before.append(open.size() - common, '}');
    if (!fields_.empty()) before += ',';
    open.resize(common);
    for (std::size_t i = common; i < steps.size(); ++i) {
      core::AppendJsonString(before, steps[i]);
      before += ':';
      if (i + 1 < steps.size()) {
        before += '{';
        open.push_back(steps[i]);
      }
    }
    fields_.push_back({before, validate::FieldPath(event_path), key_path});
    before.clear();
  }
  after_.assign(open.size() + 1, '}');
}

core::Result<void> RecordKey::AppendTo(const Document& document, const Node* event,
                                       std::string& out) const {
  for (const Field& field : fields_) {
    const Node* value = field.path.Find(document, event);
    if (value == nullptr) {
      return core::Error{
          core::ErrorCode::kMessageKeyMissing,
          "Failed extracting " + field.key_path + " from event, field is not defined."};
    }
    out += field.before;
    AppendStringified(document, value, out);
  }
  out += after_;
  return {};
}

}  // namespace sluice::intake
