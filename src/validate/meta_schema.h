#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "validate/compiled_schema.h"

// The meta-schemas of draft-04, -06 and -07, built in.
namespace sluice::validate {

// Their texts.
extern const char* const kDraft04Text;
extern const char* const kDraft06Text;
extern const char* const kDraft07Text;

// The meta-schema with that id (http or https, with or without a final #), or null.
const boost::json::value* MetaSchemaDocument(std::string_view uri);

// Checks a schema document against the meta-schema that its $schema names, draft-07 if it names
// none. Returns an empty text, or what is wrong and at which JSON pointers.
std::string CheckAgainstMetaSchema(const boost::json::value& schema);

}  // namespace sluice::validate
