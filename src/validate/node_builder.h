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

  // `structurals` has `count` positions, at least one, and one more, the text's size.
  // document.nodes has room for `count` nodes.
  Outcome Build(std::string_view text, const std::uint32_t* structurals, std::size_t count,
                int max_depth, Document& document);

 private:
  // Whether the last token closes a container that the first one opens, so that none but it can be
  // the text's end.
  enum class LastToken : std::uint8_t { kCloses, kAny };
  struct Frame {
    Node* node = nullptr;  // of the container
    std::uint32_t outer_members = 0;
    bool outer_is_object = false;
    std::uint64_t seen[4] = {};  // a Bloom filter of the keys' hashes
  };
  struct Walk;

  template <LastToken kLast>
  Outcome Run(std::string_view text, const std::uint32_t* structurals, std::size_t count);
  template <LastToken kLast>
  bool Scalar(Walk& walk, char first);
  template <LastToken kLast>
  static bool Number(Walk& walk);
  template <std::size_t kSize>
  static bool Literal(Walk& walk, const char (&word)[kSize], Kind kind);
  static bool EndsScalar(const Walk& walk, std::uint32_t end);
  bool String(Walk& walk, Kind kind);
  static void Write(Walk& walk, std::uint32_t end, std::uint32_t bits);
  std::uint32_t SetHash(const char* text, Node* key);

  // Decodes a string if it has escapes. Returns the first backslash that is not before it, and sets
  // bad_escape_.
  std::uint32_t Escaped(std::string_view text, std::uint32_t backslash, Node& node);
  void SupersedeEarlier(Node* object, const Node* key);
  void SupersedeInLargeObject(Node* object);

  static constexpr std::uint32_t kNoByte = 0xffffffff;

  int max_depth_ = 0;
  Document* document_ = nullptr;
  std::uint32_t bad_escape_ = kNoByte;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> keys_;  // of a large object, for sorting
};

}  // namespace sluice::validate
