#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "validate/pattern_ast.h"

namespace sluice::validate {

// What one character of an expression and of a text is.
enum class PatternUnit : std::uint8_t {
  kCodeUnit,   // half of a surrogate pair, as `new RegExp(text)` without flags has it
  kCodePoint,  // a whole character, and \p{…} is a property: as the drafts want it
};

// ECMAScript's grammar of regular expressions without the unicode flag, Annex B included, as V8
// reads it: what is an error there is one here. Errors are kSchemaUnusable, and say what is wrong
// and at which character.

// The tree, by code points. Fails also on an expression that is too long or too deeply nested to be
// compiled.
core::Result<PatternTree> ParsePattern(std::string_view ecmascript);

// Whether `new RegExp(text)` would succeed, or, by code points, whether it is an expression as the
// drafts want them. Linear in the length, of which there is no limit.
core::Result<void> CheckPattern(std::string_view ecmascript, PatternUnit unit);

}  // namespace sluice::validate
