#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "validate/document.h"

namespace sluice::validate {

// Turns a text and the positions of its structural characters (brackets, commas, colons, first
// bytes of strings and scalars) into nodes, checking the grammar on the way. Reused; one per
// thread.
class NodeBuilder {
 public:
  enum class Problem : std::uint8_t {
    kNone,
    kUnexpectedCharacter,
    kUnexpectedEnd,
    kTrailingText,
    kBadNumber,
    kBadLiteral,
    kBadEscape,
    kTooDeep,
    kUnclosedString,
  };
  struct Outcome {
    Problem problem = Problem::kNone;
    std::size_t at = 0;  // the byte of the text
  };

  // `structurals` has `count` positions and one more, the text's size. document.nodes has room for
  // `count` nodes.
  Outcome Build(std::string_view text, const std::uint32_t* structurals, std::size_t count,
                int max_depth, Document& document);

 private:
  struct Frame {
    std::uint32_t node = 0;      // of the container
    std::uint32_t count = 0;     // members or elements so far
    std::uint64_t seen[4] = {};  // a Bloom filter of the keys' hashes
  };

  bool Fail(Problem problem, std::size_t at) {
    outcome_ = {problem, at};
    return false;
  }
  bool Value();
  bool Key();
  bool String(std::uint32_t begin, Kind kind, std::uint32_t extra_flags);
  bool NumberNode(std::uint32_t begin);
  bool Literal(std::uint32_t begin, std::string_view word, Kind kind);
  bool Open(std::uint32_t begin, Kind kind);
  void Close(std::uint32_t end);
  bool AfterValue();
  void NoteKey(Frame& frame, const Node& key);
  void SupersedeEarlier(const Frame& frame, const Node& key);
  void SupersedeInLargeObject(const Frame& frame);
  bool EndsScalar(std::size_t at) const;

  std::string_view text_;
  const std::uint32_t* next_ = nullptr;  // the structural to read next
  const std::uint32_t* end_ = nullptr;
  std::size_t next_backslash_ = 0;  // position of the first backslash not before the current string
  std::uint32_t gaps_ = 0;  // not 0: some token does not begin where the one before it ended
  int max_depth_ = 0;
  int depth_ = 0;
  Document* document_ = nullptr;
  Node* node_ = nullptr;  // the node to write next
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> keys_;  // of a large object, for sorting
  Outcome outcome_;
};

}  // namespace sluice::validate
