#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace sluice::validate {

// The original's rule about schemas that could be slow to check: `pattern` and `format` want a
// maxLength beside them, `patternProperties` a maxLength in propertyNames, `uniqueItems: true` a
// maxItems unless items have a scalar type. Returns an empty text, or the first place where the
// rule is broken: the JSON pointer, the keyword and what it wants.
std::string CheckSecure(const boost::json::value& schema);

}  // namespace sluice::validate
