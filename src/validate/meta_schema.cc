#include "validate/meta_schema.h"

#include <boost/json/parse.hpp>

#include "validate/document.h"
#include "validate/editable_event.h"
#include "validate/reader.h"
#include "validate/schema_compiler.h"
#include "validate/schema_text.h"
#include "validate/validator.h"

namespace sluice::validate {
namespace {

struct MetaSchema {
  explicit MetaSchema(const char* text) : document(boost::json::parse(text)) {
    CompileOptions options;
    options.secure_check = false;
    options.check_meta_schema = false;
    compiled = CompileSchema("", document, options, nullptr).schema;
  }
  boost::json::value document;
  std::shared_ptr<const CompiledSchema> compiled;
};

const MetaSchema* MetaSchemaFor(std::string_view uri) {
  for (std::string_view prefix : {"http://", "https://"}) {
    if (uri.starts_with(prefix)) {
      uri.remove_prefix(prefix.size());
      break;
    }
  }
  while (uri.ends_with('#')) uri.remove_suffix(1);
  if (uri == "json-schema.org/draft-07/schema" || uri == "json-schema.org/schema") {
    static const MetaSchema kDraft07(kDraft07Text);
    return &kDraft07;
  }
  if (uri == "json-schema.org/draft-06/schema") {
    static const MetaSchema kDraft06(kDraft06Text);
    return &kDraft06;
  }
  if (uri == "json-schema.org/draft-04/schema") {
    static const MetaSchema kDraft04(kDraft04Text);
    return &kDraft04;
  }
  return nullptr;
}

}  // namespace

const boost::json::value* MetaSchemaDocument(std::string_view uri) {
  const MetaSchema* meta = MetaSchemaFor(uri);
  return meta == nullptr ? nullptr : &meta->document;
}

std::string CheckAgainstMetaSchema(const boost::json::value& schema) {
  std::string_view uri = "http://json-schema.org/draft-07/schema";
  if (const auto* object = schema.if_object()) {
    if (const auto* version = object->if_contains("$schema")) {
      if (!version->is_string()) return "$schema must be a string";
      uri = version->get_string();
    }
  }
  const MetaSchema* meta = MetaSchemaFor(uri);
  if (meta == nullptr) {
    return "no schema with key or ref \"" + std::string(uri) + "\": drafts 04, 06 and 07 are known";
  }
  std::string text;
  AppendJson(text, schema);
  const std::size_t length = text.size();
  text.append(kReadPadding, ' ');
  Reader reader;
  Document document;
  ReadOptions options;
  options.max_depth = 1100;
  const auto read = reader.Read(std::string_view(text).substr(0, length), options, document);
  if (!read) return "the schema cannot be read back: " + read.error().message;
  EditableEvent event;
  event.Load(document, 0);
  Validator validator;
  switch (validator.Validate(*meta->compiled, event, UseDefaults::kNo)) {
    case Verdict::kValid:
      return {};
    case Verdict::kExhausted:
      return "the schema cannot be checked: " + validator.message();
    case Verdict::kInvalid:
      break;
  }
  std::string problem = "schema is invalid: ";
  validator.AppendErrorsByPointer(event, problem);
  return problem;
}

}  // namespace sluice::validate
