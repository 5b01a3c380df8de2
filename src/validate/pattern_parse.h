#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "validate/pattern_ast.h"

namespace sluice::validate {

// ECMAScript's grammar of regular expressions without the unicode flag, as V8 reads it: what is an
// error there is one here. Errors are kSchemaUnusable, and say what is wrong and at which
// character.

// The tree of an expression over code points: a character above U+FFFF is one, and \p{…} is a
// property, as the drafts want it. Annex B of ECMA-262 is included. Fails also on what is too long
// or too deeply nested to be compiled.
core::Result<PatternTree> ParsePattern(std::string_view ecmascript);

// Both are linear in the length, of which there is no limit.
// Whether `new RegExp(text)` would succeed: over UTF-16 code units, Annex B included.
core::Result<void> CheckWebPattern(std::string_view text);
// Whether the text is an expression over code points, without what only Annex B allows.
core::Result<void> CheckStrictPattern(std::string_view text);

}  // namespace sluice::validate
