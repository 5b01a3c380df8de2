#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/pattern_ast.h"

namespace sluice::validate {

// The parser behind pattern_parse.h. Groups are kept on a stack of its own, not in recursion, so
// that no text can exhaust the thread's stack. Used once.
class PatternParser {
 public:
  enum class Mode : std::uint8_t {
    kTree,         // code points, Annex B, and a tree
    kCheckWeb,     // code units, Annex B
    kCheckStrict,  // code points, no Annex B
  };

  PatternParser(std::u32string_view text, Mode mode)
      : text_(text),
        code_points_(mode != Mode::kCheckWeb),
        strict_(mode == Mode::kCheckStrict),
        build_(mode == Mode::kTree) {}

  // False: error() and error_at() say what is wrong, and at which character.
  bool Parse();

  const std::string& error() const { return error_; }
  std::size_t error_at() const { return error_at_; }
  PatternTree TakeTree() { return std::move(tree_); }

 private:
  enum class GroupKind : std::uint8_t { kPlain, kCapture, kLookAhead, kLookBehind };
  struct Group {
    GroupKind kind = GroupKind::kPlain;
    bool negative = false;
    std::uint32_t number = 0;
    std::size_t at = 0;
    std::vector<PatternNode> choices;
    std::vector<PatternNode> sequence;
  };
  struct Interval {
    std::uint32_t min;
    std::uint32_t max;
  };
  // A character, or a set such as \d, as classes hold them.
  struct ClassAtom {
    bool is_set = false;
    char32_t character = 0;
    CodePointSet set;
  };
  enum class Where : std::uint8_t { kOutsideClass, kInClass };

  static constexpr char32_t kEndMarker = 0x110000;
  static constexpr std::uint32_t kMaxCaptures = 1 << 16;  // as V8
  static constexpr std::uint32_t kFirstPlaceholder = kMaxCaptures + 1;

  // pattern_parser.cc: groups, terms and quantifiers.
  void CountCaptures();
  bool ParseTerm();
  bool OpenGroup();
  bool CloseGroup();
  void CloseChoice(Group& group);
  bool ParseQuantifier();
  std::optional<Interval> ParseInterval();
  bool ResolveNames();
  bool IsInsideCapture(std::uint32_t number) const;
  void SetNumbers(PatternNode& node) const;

  // pattern_parser_escape.cc: what follows a backslash, names and classes.
  bool ParseEscape();
  bool ParseNumberEscape();
  bool ParseNamedReference();
  std::optional<std::u32string> ParseGroupName();
  std::optional<CodePointSet> ParseSetEscape();
  std::optional<CodePointSet> ParseProperty();
  bool ParseCharacterEscape(Where where, char32_t& character);
  char32_t ParseOctal();
  std::optional<char32_t> ParseHex(int digits);
  char32_t ParseUnicodeEscape();
  bool ParseClass();
  bool ParseClassAtom(ClassAtom& atom);

  char32_t Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : kEndMarker;
  }
  bool TakeIf(char32_t c);
  bool Fail(std::string_view what, std::size_t at);
  bool Fail(std::string_view what) { return Fail(what, at_); }
  void Push(PatternNode node);
  void PushSet(CodePointSet set);
  void PushCharacter(char32_t c);
  void PushKind(PatternNode::Kind kind);

  std::u32string_view text_;
  const bool code_points_;
  const bool strict_;
  const bool build_;
  std::size_t at_ = 0;
  std::vector<Group> groups_;
  std::uint32_t captures_opened_ = 0;
  std::uint32_t captures_ = 0;  // in the whole text
  bool has_names_ = false;
  std::map<std::u32string, std::uint32_t> names_;
  // A name may be used before its group: the node holds kFirstPlaceholder plus the index here until
  // the end.
  struct NamedReference {
    std::u32string name;
    std::size_t at;
  };
  std::vector<NamedReference> named_references_;
  PatternTree tree_;
  std::string error_;
  std::size_t error_at_ = 0;
};

}  // namespace sluice::validate
