#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "validate/document.h"
#include "validate/reader.h"

namespace sluice::validate {

// One event of a Document while it is completed: its nodes, copied so that members can be added,
// and the list of splices that turn the client's bytes into the record. What was not touched is
// forwarded byte by byte. One per thread, reused; valid as long as the document and its body.
class EditableEvent {
 public:
  EditableEvent();
  ~EditableEvent();

  // Takes the value that begins at document.nodes[index], drops all but the last of duplicate
  // members (recorded as splices), and forgets the previous event.
  void Load(Document& document, std::uint32_t index);

  Document& document() { return *document_; }
  const Document& document() const { return *document_; }
  const Node* root() const { return nodes_.data(); }
  Node* root() { return nodes_.data(); }
  std::uint32_t IndexOf(const Node* n) const {
    return static_cast<std::uint32_t>(n - nodes_.data());
  }
  const Node* at(std::uint32_t index) const { return nodes_.data() + index; }

  // Follows a dotted path ("meta.dt") from the root through objects. Null if a step is missing.
  // Until the next edit.
  const Node* Find(std::string_view dotted_path) const;

  // Adds `"key": json` as the last member of the object at `object_index`. `json` must be
  // well-formed JSON without duplicate keys; later lookups and the validator see the member.
  // Indices of nodes behind the object move.
  void AddMember(std::uint32_t object_index, std::string_view key, std::string_view json);

  // Adds an element at the end of an array.
  void AddElement(std::uint32_t array_index, std::string_view json);

  // Replaces the value at `index` (not a key) by `json`.
  void ReplaceValue(std::uint32_t index, std::string_view json);

  bool edited() const { return !splices_.empty(); }

  // Appends the event's text with all edits to `out`.
  void AppendTo(std::string& out) const;
  // The text of one value with the edits inside it.
  void AppendValueTo(const Node& value, std::string& out) const;
  // Upper bound of what AppendTo appends.
  std::size_t TextBytes() const;

 private:
  struct Splice {
    std::uint32_t at;      // address where text is left out or put in
    std::uint32_t resume;  // address where copying goes on; == at: pure insertion
    std::uint32_t begin;   // addresses of the text put in; equal: none
    std::uint32_t end;
  };
  void AddSplice(const Splice& splice);
  void AppendRange(std::uint32_t begin, std::uint32_t end, std::string& out) const;
  // Appends `text` to the document's added text, returns its address.
  std::uint32_t AddText(std::string_view text);
  // Appends to fresh_ the nodes of a JSON text that was added at address `at`.
  void ParseAdded(std::string_view json, std::uint32_t at);
  // Puts fresh_ behind the last node of the container and text_, added at `text_begin`, before its
  // closing bracket.
  void InsertFresh(std::uint32_t container_index, std::uint32_t text_begin);
  void GrowAncestors(std::uint32_t container_index, std::int64_t nodes);
  void DropSuperseded(std::uint32_t object_index);

  Document* document_ = nullptr;
  std::vector<Node> nodes_;  // the event's
  std::vector<Splice>
      splices_;              // by address, insertions at one address in the order they were made
  std::vector<Node> fresh_;  // nodes of the text being added
  std::string text_;         // the text being added
  std::unique_ptr<Reader>
      reader_;  // for added texts that are more than a string; made when first needed
  Document scratch_;
};

}  // namespace sluice::validate
