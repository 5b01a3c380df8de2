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
  // The walk's own state: lives in Build's registers, so nothing it calls may keep a reference to
  // it.
  struct Walk;

  static bool Fail(Walk& walk, Problem problem, std::size_t at);
  static bool Scalar(Walk& walk, std::uint32_t at);
  static bool String(Walk& walk, std::uint32_t begin, Kind kind);
  static bool Escaped(Walk& walk, Node& node);
  static bool Number(Walk& walk, std::uint32_t begin);
  static bool Literal(Walk& walk, std::uint32_t begin, std::string_view word, Kind kind);
  bool Key(Walk& walk, Frame& frame);
  void Run(Walk& walk);
  void SupersedeEarlier(const Frame& frame, Node* key);
  void SupersedeInLargeObject(const Frame& frame);

  int max_depth_ = 0;
  Document* document_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> keys_;  // of a large object, for sorting
};

}  // namespace sluice::validate
