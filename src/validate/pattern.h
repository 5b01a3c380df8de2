#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"

namespace sluice::validate {

enum class MatchResult : std::uint8_t { kMatch, kNoMatch, kExhausted };

// An ECMAScript regular expression as JSON Schema's `pattern` and `patternProperties` use it:
// unanchored, without the unicode flag as ajv 6 uses it, except that a character beyond the basic
// plane is one character. Immutable; any thread. Simple ones (anchored classes with counts) run in
// a matcher of our own, most others in RE2, look-around and back-references in a backtracker with a
// bound on its steps, so no pattern can hang.
class Pattern {
 public:
  // Fails with kSchemaUnusable and what is wrong with the expression.
  static core::Result<std::unique_ptr<const Pattern>> Compile(std::string_view ecmascript);

  virtual ~Pattern() = default;

  // Whether the expression matches anywhere in `text` (decoded, UTF-8 or WTF-8). kExhausted: the
  // bound was hit.
  virtual MatchResult Search(std::string_view text) const = 0;

  const std::string& source() const { return source_; }

 protected:
  explicit Pattern(std::string_view source) : source_(source) {}

 private:
  std::string source_;
};

}  // namespace sluice::validate
