#pragma once

#include <memory>
#include <string_view>

#include "validate/code_point_set.h"

namespace sluice::validate {

// The code points of a Unicode property, from the tables inside PCRE2. The first call for a
// property takes some ten milliseconds at most, later ones find it in a cache. Any thread.

// By what stands between the braces of ECMAScript's \p{…}: a general category, a binary property,
// or `Script=`, `Script_Extensions=`, `General_Category=` (or their short names) with a value.
// Null: there is none of that name.
std::shared_ptr<const CodePointSet> EcmaScriptProperty(std::string_view name);

// By PCRE2's own name, which must be known to it, for example "bidi_class:AL".
const CodePointSet& Pcre2Property(std::string_view name);

}  // namespace sluice::validate
