#include "validate/reader.h"

#include <simdjson.h>

#include <algorithm>

#include "core/json_text.h"
#include "validate/node_builder.h"

namespace sluice::validate {
namespace {

using simdjson::internal::dom_parser_implementation;

constexpr std::size_t kSmallText = 1u << 20;       // tables up to this text size are kept
constexpr std::size_t kLargestText = 0xFFFFFF00u;  // offsets have 32 bits

core::Error Malformed(std::string_view what, std::size_t at, std::size_t replaced) {
  std::string message = "Body is not JSON: ";
  message.append(what);
  message += " at byte " + std::to_string(at);
  if (replaced > 0) {
    message +=
        " of the text with " + std::to_string(replaced) + " ill-formed UTF-8 sequences replaced";
  }
  return {core::ErrorCode::kMalformedBody, std::move(message)};
}

std::string Describe(NodeBuilder::Problem problem, std::string_view text, std::size_t at,
                     int max_depth) {
  using Problem = NodeBuilder::Problem;
  switch (problem) {
    case Problem::kNone:
      break;
    case Problem::kUnexpectedCharacter: {
      const char c = text[at];
      return c > ' ' && c < 127 ? std::string("unexpected '") + c + "'" : "unexpected character";
    }
    case Problem::kUnexpectedEnd:
      return "unexpected end of the text";
    case Problem::kTrailingText:
      return "text after the end of the value";
    case Problem::kBadNumber:
      return "malformed number";
    case Problem::kBadLiteral:
      return "unknown word (strings need double quotes)";
    case Problem::kBadEscape:
      return "bad escape in a string";
    case Problem::kTooDeep:
      return "nesting deeper than " + std::to_string(max_depth) + " (limits.max_depth)";
    case Problem::kUnclosedString:
      return "string without end that begins";
  }
  return "not well-formed";
}

// Where the first stage saw a control character inside a string, or a string without end: the same
// walk over quotes and backslashes, byte by byte, since the first stage does not say where.
core::Error FindStringProblem(std::string_view text, std::size_t skipped, std::size_t replaced) {
  std::size_t opened = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\\') {
      ++i;
    } else if (c == '"') {
      inside = !inside;
      opened = i;
    } else if (inside && c < 0x20) {
      return Malformed("control character in a string (write it as an escape)", i + skipped,
                       replaced);
    }
  }
  return Malformed("string without end that begins", opened + skipped, replaced);
}

}  // namespace

struct Reader::Index {
  std::unique_ptr<dom_parser_implementation> stage;
  std::size_t capacity = 0;
  NodeBuilder builder;

  bool Reserve(std::size_t bytes) {
    if (stage && bytes <= capacity) return true;
    const std::size_t wanted = std::max<std::size_t>(bytes + bytes / 4, 16384);
    stage.reset();
    capacity = 0;
    // The depth belongs to simdjson's second stage, which is not used.
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(wanted, 1, stage))
      return false;
    capacity = wanted;
    return true;
  }
};

Reader::Reader() : index_(std::make_unique<Index>()) {}
Reader::~Reader() = default;

core::Result<void> Reader::Read(std::string_view text, const ReadOptions& options,
                                Document& document) {
  replaced_ = 0;
  std::size_t skipped = 0;
  if (text.starts_with("\xEF\xBB\xBF")) {
    skipped = 3;
    text.remove_prefix(3);
  }
  return ReadDecoded(text, skipped, options, document);
}

core::Result<void> Reader::ReadDecoded(std::string_view text, std::size_t skipped,
                                       const ReadOptions& options, Document& document) {
  document.Clear();
  if (text.size() > kLargestText || !index_->Reserve(text.size())) {
    return core::Error{core::ErrorCode::kOverloaded,
                       "the body is too large for the parser's tables"};
  }
  auto& stage = *index_->stage;
  const auto error = stage.stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                  simdjson::stage1_mode::regular);
  switch (error) {
    case simdjson::SUCCESS:
      break;
    case simdjson::EMPTY:
      return Malformed("only blanks, no value", skipped, replaced_);
    case simdjson::UTF8_ERROR:
      if (replaced_ == 0) {
        copy_.clear();
        replaced_ = core::AppendReplacingInvalidUtf8(copy_, text);
        copy_.reserve(copy_.size() + kReadPadding);
        if (replaced_ > 0) return ReadDecoded(copy_, skipped, options, document);
      }
      return Malformed("ill-formed UTF-8", skipped, replaced_);
    case simdjson::UNCLOSED_STRING:
    case simdjson::UNESCAPED_CHARS:
      return FindStringProblem(text, skipped, replaced_);
    default:
      return Malformed(simdjson::error_message(error), skipped, replaced_);
  }
  const std::size_t count = stage.n_structural_indexes;
  if (options.charge && !options.charge(count * (sizeof(Node) + 4))) {
    return core::Error{core::ErrorCode::kOverloaded,
                       "no memory left for the tables of this body (limits.memory_bytes)"};
  }
  if (document.nodes.size() < count) document.nodes.resize(count);
  document.body = text;
  const auto outcome = index_->builder.Build(text, stage.structural_indexes.get(), count,
                                             options.max_depth, document);
  if (outcome.problem != NodeBuilder::Problem::kNone) {
    return Malformed(Describe(outcome.problem, text, outcome.at, options.max_depth),
                     outcome.at + skipped, replaced_);
  }
  return {};
}

void Reader::Shrink() {
  if (index_->capacity > kSmallText) index_ = std::make_unique<Index>();
  if (copy_.capacity() > kSmallText) std::string().swap(copy_);
}

}  // namespace sluice::validate
