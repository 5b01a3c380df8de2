#include "validate/editable_event.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "core/json_text.h"

namespace sluice::validate {

EditableEvent::EditableEvent() = default;
EditableEvent::~EditableEvent() = default;

void EditableEvent::Load(Document& document, std::uint32_t index) {
  document_ = &document;
  document.added.clear();
  splices_.clear();
  const Node* first = document.nodes.data() + index;
  nodes_.assign(first, first + first->nodes());
  if (!document.has_superseded) return;
  // Innermost first is not needed: dropping members of an object leaves the nodes behind it in
  // order.
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].kind() == Kind::kObject) DropSuperseded(i);
  }
}

// Members whose key stands again later go: from the text by a splice, from the nodes by moving the
// later value to the place of the first one, since that is where JavaScript keeps the key.
void EditableEvent::DropSuperseded(std::uint32_t object_index) {
  const std::uint32_t first = object_index + 1;
  const std::uint32_t last = first + nodes_[object_index].inside;
  struct Member {
    std::uint32_t key;
    std::uint32_t nodes;  // key and value
    bool placed;
  };
  std::vector<Member> members;
  bool any = false;
  for (std::uint32_t k = first; k < last;) {
    const std::uint32_t count = 1 + nodes_[k + 1].nodes();
    any |= nodes_[k].has(Node::kSuperseded);
    members.push_back({k, count, false});
    k += count;
  }
  if (!any) return;

  // The last members, sorted by hash and name, so that neither many duplicates nor colliding hashes
  // are slow to find.
  using Name = std::pair<std::uint32_t, std::string_view>;
  const auto name = [&](std::uint32_t m) {
    const Node& key = nodes_[members[m].key];
    return Name{key.extra(), document_->String(key)};
  };
  std::vector<std::uint32_t> survivors;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    if (!nodes_[members[m].key].has(Node::kSuperseded)) survivors.push_back(m);
  }
  std::sort(survivors.begin(), survivors.end(), [&](auto a, auto b) { return name(a) < name(b); });

  std::vector<Node> kept;
  kept.reserve(last - first);
  std::uint32_t count = 0;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    const Node& key = nodes_[members[m].key];
    if (key.has(Node::kSuperseded)) {
      const std::uint32_t resume = nodes_[members[m + 1].key].begin;  // there is a later member
      AddSplice({key.begin, resume, 0, 0});
    }
    const auto s =
        std::lower_bound(survivors.begin(), survivors.end(), name(m),
                         [&](std::uint32_t a, const Name& wanted) { return name(a) < wanted; });
    Member& survivor = members[*s];
    if (survivor.placed) continue;
    survivor.placed = true;
    ++count;
    kept.insert(kept.end(), nodes_.begin() + survivor.key,
                nodes_.begin() + survivor.key + survivor.nodes);
  }
  const auto removed =
      static_cast<std::int64_t>(last - first) - static_cast<std::int64_t>(kept.size());
  std::copy(kept.begin(), kept.end(), nodes_.begin() + first);
  nodes_.erase(nodes_.begin() + first + static_cast<std::int64_t>(kept.size()),
               nodes_.begin() + last);
  GrowAncestors(object_index, -removed);
  nodes_[object_index].set_extra(std::min(count, Node::kExtraMax));
}

const Node* EditableEvent::Find(std::string_view dotted_path) const {
  const Node* at = root();
  while (at != nullptr) {
    const std::size_t dot = dotted_path.find('.');
    at = document_->Find(at, dotted_path.substr(0, dot));
    if (dot == std::string_view::npos) return at;
    dotted_path.remove_prefix(dot + 1);
  }
  return nullptr;
}

std::uint32_t EditableEvent::AddText(std::string_view text) {
  const auto at = static_cast<std::uint32_t>(document_->body.size() + document_->added.size());
  document_->added.append(text);
  return at;
}

void EditableEvent::ParseAdded(std::string_view json, std::uint32_t at) {
  if (json.front() == '"' && json.find('\\') == std::string_view::npos) {  // most are plain strings
    Node node;
    node.begin = at;
    node.end = at + static_cast<std::uint32_t>(json.size());
    node.bits = static_cast<std::uint32_t>(Kind::kString);
    fresh_.push_back(node);
    return;
  }
  if (!reader_) reader_ = std::make_unique<Reader>();
  std::string padded(json);
  padded.resize(json.size() + kReadPadding);
  [[maybe_unused]] const auto read =
      reader_->Read(std::string_view(padded).substr(0, json.size()), {}, scratch_);
  assert(read.has_value());
  const auto decoded_base = static_cast<std::uint32_t>(document_->decoded.size());
  document_->decoded.append(scratch_.decoded);
  const std::uint32_t count = scratch_.nodes[0].nodes();
  for (std::uint32_t i = 0; i < count; ++i) {
    Node node = scratch_.nodes[i];
    node.begin += at;
    node.end += at;
    if (node.has(Node::kEscaped)) node.inside += decoded_base;
    fresh_.push_back(node);
  }
}

void EditableEvent::AddMember(std::uint32_t object_index, std::string_view key,
                              std::string_view json) {
  assert(nodes_[object_index].kind() == Kind::kObject);
  text_.clear();
  if (nodes_[object_index].inside > 0) text_.push_back(',');
  const auto key_offset = static_cast<std::uint32_t>(text_.size());
  core::AppendJsonString(text_, key);
  const auto key_end = static_cast<std::uint32_t>(text_.size());
  text_.push_back(':');
  const auto value_offset = static_cast<std::uint32_t>(text_.size());
  text_.append(json);
  const std::uint32_t at = AddText(text_);

  fresh_.clear();
  Node key_node;
  key_node.begin = at + key_offset;
  key_node.end = at + key_end;
  key_node.bits = static_cast<std::uint32_t>(Kind::kKey);
  if (key_end - key_offset != key.size() + 2) {  // it has escapes
    key_node.bits |= Node::kEscaped;
    key_node.inside = document_->AddDecoded(key);
  }
  key_node.set_extra(HashKey(key));
  fresh_.push_back(key_node);
  ParseAdded(std::string_view(text_).substr(value_offset), at + value_offset);
  InsertFresh(object_index, at);
}

void EditableEvent::AddElement(std::uint32_t array_index, std::string_view json) {
  assert(nodes_[array_index].kind() == Kind::kArray);
  text_.clear();
  if (nodes_[array_index].inside > 0) text_.push_back(',');
  const auto value_offset = static_cast<std::uint32_t>(text_.size());
  text_.append(json);
  const std::uint32_t at = AddText(text_);
  fresh_.clear();
  ParseAdded(std::string_view(text_).substr(value_offset), at + value_offset);
  InsertFresh(array_index, at);
}

void EditableEvent::InsertFresh(std::uint32_t container_index, std::uint32_t text_begin) {
  const Node& container = nodes_[container_index];
  const std::uint32_t closing = container.end - 1;
  const std::uint32_t behind = container_index + container.nodes();
  const std::uint32_t count = Document::Count(&container) + 1;
  nodes_.insert(nodes_.begin() + behind, fresh_.begin(), fresh_.end());
  GrowAncestors(container_index, static_cast<std::int64_t>(fresh_.size()));
  nodes_[container_index].set_extra(std::min(count, Node::kExtraMax));
  AddSplice({closing, closing, text_begin, text_begin + static_cast<std::uint32_t>(text_.size())});
}

void EditableEvent::ReplaceValue(std::uint32_t index, std::string_view json) {
  const Node old = nodes_[index];
  const std::uint32_t at = AddText(json);
  fresh_.clear();
  ParseAdded(json, at);
  const std::uint32_t old_count = old.nodes();
  const auto difference =
      static_cast<std::int64_t>(fresh_.size()) - static_cast<std::int64_t>(old_count);
  if (difference > 0) {
    nodes_.insert(nodes_.begin() + index + old_count, static_cast<std::size_t>(difference), Node{});
  } else if (difference < 0) {
    nodes_.erase(nodes_.begin() + index + static_cast<std::int64_t>(fresh_.size()),
                 nodes_.begin() + index + old_count);
  }
  std::copy(fresh_.begin(), fresh_.end(), nodes_.begin() + index);
  if (difference != 0 && index != 0) {
    const std::uint32_t own = nodes_[index].inside;
    GrowAncestors(index, difference);
    nodes_[index].inside = own;  // the new value's count is right already
  }
  AddSplice({old.begin, old.end, at, at + static_cast<std::uint32_t>(json.size())});
}

// Walks from the root down to the node and corrects what each container on the way, and the node
// itself, says about the nodes inside it. The sibling steps use counts that are still right, since
// only what was passed is changed.
void EditableEvent::GrowAncestors(std::uint32_t target, std::int64_t difference) {
  std::uint32_t at = 0;
  while (true) {
    Node& container = nodes_[at];
    container.inside = static_cast<std::uint32_t>(container.inside + difference);
    if (at == target) return;
    const std::uint32_t step = container.kind() == Kind::kObject ? 2 : 1;
    std::uint32_t child = at + step;
    while (child + nodes_[child].nodes() <= target) child += nodes_[child].nodes() + (step - 1);
    at = child;
  }
}

void EditableEvent::AddSplice(const Splice& splice) {
  auto place = splices_.end();
  while (place != splices_.begin() && (place - 1)->at > splice.at) --place;
  splices_.insert(place, splice);
}

void EditableEvent::AppendRange(std::uint32_t begin, std::uint32_t end, std::string& out) const {
  std::uint32_t at = begin;
  for (const Splice& splice : splices_) {
    if (splice.at < at) continue;  // before the range, or inside a part that was left out
    if (splice.at >= end) break;
    if (splice.at > at) out.append(document_->Text(at, splice.at));
    if (splice.begin != splice.end) AppendRange(splice.begin, splice.end, out);
    at = splice.resume;
  }
  if (at < end) out.append(document_->Text(at, end));
}

void EditableEvent::AppendTo(std::string& out) const { AppendValueTo(nodes_[0], out); }

void EditableEvent::AppendValueTo(const Node& value, std::string& out) const {
  AppendRange(value.begin, value.end, out);
}

std::size_t EditableEvent::TextBytes() const {
  std::size_t bytes = nodes_[0].end - nodes_[0].begin;
  for (const Splice& splice : splices_) bytes += splice.end - splice.begin;
  return bytes;
}

}  // namespace sluice::validate
