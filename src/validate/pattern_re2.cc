#include "validate/pattern_re2.h"

#include <re2/re2.h>

#include <cstdio>
#include <utility>

#include "validate/wtf8.h"

namespace sluice::validate {
namespace {

using Kind = PatternNode::Kind;

constexpr std::uint32_t kMaxRe2Count = 1000;
constexpr std::size_t kMaxRe2Bytes = 256 << 10;  // of syntax; more would not fit into kMaxMemory
constexpr std::int64_t kMaxMemory = 8 << 20;     // program and automaton of one pattern

// Writes the syntax. Groups capture nothing, since only whether there is a match counts; for the
// same reason laziness makes no difference.
class Writer {
 public:
  bool Write(const PatternNode& node) {
    if (out_.size() > kMaxRe2Bytes) return false;
    switch (node.kind) {
      case Kind::kEmpty:
        out_ += "(?:)";
        return true;
      case Kind::kSet:
        WriteSet(node.set);
        return true;
      case Kind::kSequence:
        for (const PatternNode& child : node.children) {
          if (!Write(child)) return false;
        }
        return true;
      case Kind::kChoice:
        return WriteChoice(node);
      case Kind::kRepeat:
        return WriteRepeat(node);
      case Kind::kCapture:
        return WriteGroup(node.children[0]);
      case Kind::kStart:
        out_ += "\\A";
        return true;
      case Kind::kEnd:
        out_ += "\\z";  // never before a final line feed
        return true;
      case Kind::kWordBoundary:
        out_ += "\\b";
        return true;
      case Kind::kNotWordBoundary:  // RE2 finds it between the bytes of one character, too
      case Kind::kLook:
      case Kind::kBackReference:
        return false;
    }
    return false;
  }

  std::string Take() { return std::move(out_); }

 private:
  bool WriteGroup(const PatternNode& node) {
    out_ += "(?:";
    if (!Write(node)) return false;
    out_ += ')';
    return true;
  }

  bool WriteChoice(const PatternNode& node) {
    out_ += "(?:";
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (i > 0) out_ += '|';
      if (!Write(node.children[i])) return false;
    }
    out_ += ')';
    return true;
  }

  bool WriteRepeat(const PatternNode& node) {
    const bool unbounded = node.max == PatternNode::kUnbounded;
    if (node.min > kMaxRe2Count || (!unbounded && node.max > kMaxRe2Count)) return false;
    if (!WriteGroup(node.children[0])) return false;
    if (unbounded && node.min <= 1) {
      out_ += node.min == 0 ? '*' : '+';
      return true;
    }
    out_.append("{").append(std::to_string(node.min));
    if (node.max != node.min) out_ += ',';
    if (!unbounded && node.max != node.min) out_ += std::to_string(node.max);
    out_ += '}';
    return true;
  }

  void WriteSet(const CodePointSet& set) {
    if (set.empty()) {
      out_ += "[^\\x{0}-\\x{10FFFF}]";
      return;
    }
    out_ += '[';
    for (const auto& range : set.ranges()) {
      WriteCodePoint(range.first);
      if (range.last == range.first) continue;
      out_ += '-';
      WriteCodePoint(range.last);
    }
    out_ += ']';
  }

  void WriteCodePoint(char32_t c) {
    char text[16];
    std::snprintf(text, sizeof text, "\\x{%X}", static_cast<unsigned>(c));
    out_ += text;
  }

  std::string out_;
};

class Re2Pattern final : public Pattern {
 public:
  Re2Pattern(std::string_view source, std::unique_ptr<const re2::RE2> re2)
      : Pattern(source), re2_(std::move(re2)) {}

  MatchResult Search(std::string_view text) const override {
    return re2_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0)
               ? MatchResult::kMatch
               : MatchResult::kNoMatch;
  }

 private:
  std::unique_ptr<const re2::RE2> re2_;
};

}  // namespace

std::optional<std::string> ToRe2Syntax(const PatternTree& tree) {
  Writer writer;
  if (!writer.Write(tree.root)) return std::nullopt;
  return writer.Take();
}

std::unique_ptr<const Pattern> MakeRe2Pattern(std::string_view source, const PatternTree& tree) {
  const auto syntax = ToRe2Syntax(tree);
  if (!syntax) return nullptr;
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxMemory);
  options.set_never_capture(true);
  auto re2 = std::make_unique<const re2::RE2>(*syntax, options);
  if (!re2->ok()) return nullptr;
  return std::make_unique<Re2Pattern>(source, std::move(re2));
}

}  // namespace sluice::validate
