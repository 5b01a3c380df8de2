#include "cli/explain_violation.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <utility>
#include <vector>

#include "cli/explain_text.h"
#include "core/suggest.h"

namespace sluice::cli {
namespace {

namespace json = boost::json;

// An example of each format, as a person would write it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kFormatExamples = {{
    {"date-time", "2024-05-17T12:34:56Z"},
    {"date", "2024-05-17"},
    {"time", "12:34:56Z"},
    {"email", "reader@example.org"},
    {"idn-email", "reader@example.org"},
    {"hostname", "www.example.org"},
    {"idn-hostname", "www.example.org"},
    {"ipv4", "192.0.2.7"},
    {"ipv6", "2001:db8::7"},
    {"uri", "https://example.org/page?id=7"},
    {"uri-reference", "/page?id=7"},
    {"uri-template", "https://example.org/{page}"},
    {"iri", "https://example.org/page?id=7"},
    {"iri-reference", "/page?id=7"},
    {"uuid", "5c1fb2f2-7a2a-4d0c-9c65-3f1d1f9a6b0e"},
    {"json-pointer", "/book/isbn"},
    {"regex", "^[a-z]+$"},
}};

std::string_view FormatExample(std::string_view format) {
  for (const auto& [name, example] : kFormatExamples) {
    if (name == format) return example;
  }
  return {};
}

// What a format is called by people.
std::string FormatWords(std::string_view format) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kWords = {{
      {"date-time", "a date and time with its zone"},
      {"date", "a date"},
      {"time", "a time with its zone"},
      {"email", "an e-mail address"},
      {"uri", "a whole URL"},
      {"uri-reference", "a URL, whole or without its beginning"},
      {"ipv4", "an IPv4 address"},
      {"ipv6", "an IPv6 address"},
  }};
  for (const auto& [name, words] : kWords) {
    if (name == format) return std::string(words);
  }
  return "the format " + std::string(format);
}

// "one element", "3 elements".
std::string Counted(const std::string& number, std::string_view thing) {
  return (number == "1" ? "one " : number + ' ') + std::string(thing) + (number == "1" ? "" : "s");
}

std::string_view TypeWords(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords = {{
      {"string", "text in quotes"},
      {"integer", "a whole number"},
      {"number", "a number"},
      {"boolean", "true or false"},
      {"array", "a list [...]"},
      {"object", "an object {...}"},
      {"null", "null"},
  }};
  for (const auto& [name, words] : kWords) {
    if (name == type) return words;
  }
  return type;
}

// "string,null" as words.
std::string TypeListWords(std::string_view types) {
  std::string words;
  while (!types.empty()) {
    const std::string_view type = types.substr(0, types.find(','));
    types.remove_prefix(std::min(type.size() + 1, types.size()));
    if (!words.empty()) words += types.empty() ? " or " : ", ";
    words += TypeWords(type);
  }
  return words;
}

std::string_view KindWords(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "true or false";
    case json::kind::string:
      return "text in quotes";
    case json::kind::array:
      return "a list [...]";
    case json::kind::object:
      return "an object {...}";
    case json::kind::int64:
    case json::kind::uint64:
      return "a whole number";
    case json::kind::double_:
      return "a number";
  }
  return "something else";
}

std::vector<std::string_view> NamesIn(const json::value* object) {
  std::vector<std::string_view> names;
  if (object == nullptr || !object->is_object()) return names;
  for (const auto& member : object->get_object()) names.push_back(member.key());
  return names;
}

std::string Shown(const json::value& value) { return Cut(JsonText(value)); }

bool LooksLikeNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.-+eE") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

// What one error is about, looked up once.
struct ViolationTeller::Case {
  std::string_view keyword;
  std::string_view message;
  const json::object* params;
  const json::object* holder;  // the schema with the keyword, or null
  FieldSteps steps;
  const json::value* value;  // at the steps, or null

  std::string_view Text(std::string_view name) const {
    return params == nullptr ? std::string_view() : TextMember(*params, name);
  }
  std::string Value(std::string_view name) const {
    const json::value* found = params == nullptr ? nullptr : params->if_contains(name);
    return found == nullptr ? std::string() : JsonText(*found);
  }
  std::vector<std::string_view> DeclaredNames() const {
    return NamesIn(holder == nullptr ? nullptr : holder->if_contains("properties"));
  }
};

Violation ViolationTeller::Tell(const json::object& error) const {
  Case c;
  c.keyword = TextMember(error, "keyword");
  c.message = TextMember(error, "message");
  const auto* params = error.if_contains("params");
  c.params = params == nullptr ? nullptr : params->if_object();
  Violation told;
  told.schema_path = TextMember(error, "schemaPath");
  c.holder = book_.Holder(schema_uri_, told.schema_path);
  c.steps = StepsOf(TextMember(error, "dataPath"));
  c.value = ValueAt(event_, c.steps);
  told.field = FieldName(c.steps);
  if (c.value != nullptr) told.found = Shown(*c.value);
  if (c.keyword == "required" || c.keyword == "dependencies") {
    TellMissing(c, told);
  } else if (c.keyword == "additionalProperties") {
    TellUnknown(c, told);
  } else {
    Describe(c.steps, c.holder, told);
    if (c.keyword == "type") {
      TellType(c, told);
    } else if (c.keyword == "format" || c.keyword == "pattern") {
      TellForm(c, told);
    } else if (!TellSet(c, told)) {
      TellBound(c, told);
    }
  }
  return told;
}

void ViolationTeller::TellMissing(const Case& c, Violation& told) const {
  const std::string missing(c.Text("missingProperty"));
  const std::vector<std::string_view> present = NamesIn(c.value);
  FieldSteps steps = c.steps;
  steps.push_back(missing);
  told.field = FieldName(steps);
  told.found.clear();
  told.problem = "is missing";
  if (c.keyword == "dependencies") {
    told.problem += "; it has to be there where " + std::string(c.Text("property")) + " is";
  }
  const json::value* declared = nullptr;
  if (c.holder != nullptr) {
    if (const auto* properties = c.holder->if_contains("properties");
        properties != nullptr && properties->is_object()) {
      declared = properties->get_object().if_contains(missing);
    }
  }
  const json::object* field = declared == nullptr ? nullptr : declared->if_object();
  Describe(steps, field, told);
  // Only names that the schema does not know: the others are meant.
  const std::vector<std::string_view> known = c.DeclaredNames();
  std::vector<std::string_view> unknown;
  for (const std::string_view name : present) {
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown.push_back(name);
  }
  const std::string_view near = core::Nearest(missing, unknown);
  const std::string example = ExampleFor(steps, field);
  if (!near.empty()) {
    told.suggestion =
        "there is a field \"" + std::string(near) + "\": is \"" + missing + "\" its right name?";
  } else if (!example.empty()) {
    told.suggestion = "add it, for example \"" + missing + "\": " + example;
  } else if (field != nullptr && !TextMember(*field, "type").empty()) {
    told.suggestion = "add it; it takes " + std::string(TypeWords(TextMember(*field, "type")));
  } else {
    told.suggestion = "add it";
  }
}

void ViolationTeller::TellUnknown(const Case& c, Violation& told) const {
  const std::string name(c.Text("additionalProperty"));
  FieldSteps steps = c.steps;
  steps.push_back(name);
  told.field = FieldName(steps);
  const json::value* value = ValueAt(event_, steps);
  told.found = value == nullptr ? std::string() : Shown(*value);
  told.problem = "is a name that the schema does not know, and it allows no others";
  const std::vector<std::string_view> known = c.DeclaredNames();
  const std::string_view near = core::Nearest(name, known);
  if (!near.empty()) {
    told.suggestion = "did you mean \"" + std::string(near) + "\"?";
  } else if (!known.empty()) {
    told.suggestion = "take it out, or use one of the known names: " + List(known);
  } else {
    told.suggestion = "take it out";
  }
}

void ViolationTeller::TellType(const Case& c, Violation& told) const {
  const std::string_view type = c.Text("type");
  const std::string wanted = TypeListWords(type);
  const bool number = type == "integer" || type == "number";
  told.problem = "has to be " + wanted;
  if (c.value == nullptr) return;
  told.problem += ", but is " + std::string(KindWords(*c.value));
  if (number && c.value->is_string() && LooksLikeNumber(c.value->get_string())) {
    told.suggestion = "write it without quotes: " + std::string(c.value->get_string());
  } else if (type == "boolean" && c.value->is_string()) {
    told.suggestion = "write true or false without quotes";
  } else if (type == "string" && !c.value->is_structured() && !c.value->is_null()) {
    told.suggestion = "put quotes around it: \"" + JsonText(*c.value) + "\"";
  } else if (type == "array" && !c.value->is_array()) {
    told.suggestion = "put brackets around it: [" + Shown(*c.value) + "]";
  } else if (type == "integer" && c.value->is_double()) {
    told.suggestion = "leave out the fraction";
  } else if (c.value->is_null()) {
    told.suggestion = "leave the field out if there is no value";
  } else {
    const std::string example = ExampleFor(c.steps, c.holder);
    if (!example.empty()) told.suggestion = "for example " + example;
  }
}

void ViolationTeller::TellForm(const Case& c, Violation& told) const {
  std::string example = ExampleFor(c.steps, c.holder);
  if (c.keyword == "format") {
    const std::string_view format = c.Text("format");
    told.problem = "has to be written as " + FormatWords(format);
    if (const std::string_view usual = FormatExample(format); !usual.empty()) {
      example = JsonText(json::string(usual));
    }
  } else {
    told.problem =
        "does not have the form that the schema asks for: " + std::string(c.Text("pattern"));
  }
  if (!example.empty()) told.suggestion = "for example " + example;
}

// Values out of a list; whether there is anything to tell.
bool ViolationTeller::TellSet(const Case& c, Violation& told) const {
  if (c.keyword == "const") {
    told.problem = "has to be " + c.Value("allowedValue");
    return true;
  }
  if (c.keyword == "uniqueItems") {
    const std::string i = c.Value("i");
    const std::string j = c.Value("j");
    const bool in_order = i.size() != j.size() ? i.size() < j.size() : i < j;
    told.problem = "has the same element twice, at " +
                   (in_order ? i + " and " + j : j + " and " + i) + " (counted from 0)";
    told.suggestion = "take one of them out";
    return true;
  }
  if (c.keyword != "enum") return false;
  told.problem = "is none of the values that are allowed";
  const json::value* allowed =
      c.params == nullptr ? nullptr : c.params->if_contains("allowedValues");
  if (allowed == nullptr || !allowed->is_array()) return true;
  std::vector<std::string> texts;
  std::vector<std::string_view> words;
  for (const json::value& value : allowed->get_array()) {
    texts.push_back(JsonText(value));
    if (value.is_string()) words.emplace_back(value.get_string());
  }
  if (c.value != nullptr && c.value->is_string()) {
    const std::string_view near = core::Nearest(c.value->get_string(), words);
    if (!near.empty()) told.suggestion = "did you mean \"" + std::string(near) + "\"? ";
  }
  told.suggestion += "allowed are: " + List({texts.begin(), texts.end()});
  return true;
}

void ViolationTeller::TellBound(const Case& c, Violation& told) const {
  const std::string limit = c.Value("limit");
  const std::string_view k = c.keyword;
  std::string is;
  if (c.value != nullptr && c.value->is_array()) {
    is = "; it has " + std::to_string(c.value->get_array().size());
  } else if (c.value != nullptr && c.value->is_object()) {
    is = "; it has " + std::to_string(c.value->get_object().size());
  } else if (c.value != nullptr && c.value->is_string()) {
    const std::string_view text = c.value->get_string();
    const auto letters = std::count_if(text.begin(), text.end(), [](char letter) {
      return (static_cast<unsigned char>(letter) & 0xc0) != 0x80;
    });
    is = "; it has " + std::to_string(letters);
  }
  if (k == "minLength") {
    told.problem =
        limit == "1" ? "must not be empty" : "needs at least " + Counted(limit, "character") + is;
  } else if (k == "maxLength") {
    told.problem = "may have at most " + Counted(limit, "character") + is;
  } else if (k == "minItems") {
    told.problem = "needs at least " + Counted(limit, "element") + is;
  } else if (k == "maxItems") {
    told.problem = "may have at most " + Counted(limit, "element") + is;
  } else if (k == "minProperties") {
    told.problem = "needs at least " + Counted(limit, "field") + is;
  } else if (k == "maxProperties") {
    told.problem = "may have at most " + Counted(limit, "field") + is;
  } else if (k == "minimum") {
    told.problem = "has to be " + limit + " or more";
  } else if (k == "maximum") {
    told.problem = "has to be " + limit + " or less";
  } else if (k == "exclusiveMinimum") {
    told.problem = "has to be more than " + limit;
  } else if (k == "exclusiveMaximum") {
    told.problem = "has to be less than " + limit;
  } else if (k == "multipleOf") {
    const std::string step = c.Value("multipleOf");
    told.problem = step == "1" ? "has to be a whole number" : "has to be a multiple of " + step;
  } else {
    TellRest(c, told);
  }
}

// Keywords that hold schemas.
void ViolationTeller::TellRest(const Case& c, Violation& told) const {
  if (c.keyword == "anyOf") {
    told.problem = "fits none of its alternatives; why not is told for each of them";
    told.suggestion = "make it fit one of them";
  } else if (c.keyword == "oneOf") {
    const bool none = c.Value("passingSchemas") == "null";
    told.problem = none ? "fits none of its alternatives; why not is told for each of them"
                        : "fits more than one of its alternatives, and may fit only one";
    told.suggestion = none ? "make it fit one of them" : "leave out what belongs to the others";
  } else if (c.keyword == "not") {
    told.problem = "is just what the schema forbids here";
  } else if (c.keyword == "if") {
    told.problem = "does not fit what holds for an event of this kind";
  } else if (c.keyword == "contains") {
    told.problem = "has no element of the kind that it needs";
  } else if (c.keyword == "propertyNames") {
    told.problem = "has a field whose name is not allowed: " + std::string(c.Text("propertyName"));
  } else if (c.keyword == "false schema") {
    told.problem = "must not be there";
    told.suggestion = "take it out";
  } else {
    told.problem = c.message;
  }
}

void ViolationTeller::Describe(const FieldSteps& steps, const json::object* holder,
                               Violation& told) const {
  std::string_view text =
      holder == nullptr ? std::string_view() : TextMember(*holder, "description");
  if (text.empty()) {
    const json::value* root = book_.Find(schema_uri_);
    const json::object* declared = root == nullptr ? nullptr : DeclarationAt(*root, steps);
    if (declared != nullptr) text = TextMember(*declared, "description");
  }
  told.description = text;
}

// From the schema: of the field, else of a whole event, else the first value that is allowed.
std::string ViolationTeller::ExampleFor(const FieldSteps& steps,
                                        const json::object* declared) const {
  const auto first = [](const json::object* object, std::string_view name) -> const json::value* {
    const json::value* list = object == nullptr ? nullptr : object->if_contains(name);
    return list != nullptr && list->is_array() && !list->get_array().empty()
               ? &list->get_array().front()
               : nullptr;
  };
  if (const json::value* example = first(declared, "examples")) return Shown(*example);
  const json::value* root = book_.Find(schema_uri_);
  if (root != nullptr && root->is_object()) {
    if (const json::value* event = first(&root->get_object(), "examples")) {
      const json::value* example = ValueAt(*event, steps);
      if (example != nullptr) return Shown(*example);
    }
  }
  if (const json::value* allowed = first(declared, "enum")) return Shown(*allowed);
  const std::string_view format =
      declared == nullptr ? std::string_view() : TextMember(*declared, "format");
  const std::string_view usual = FormatExample(format);
  return usual.empty() ? std::string() : JsonText(json::string(usual));
}

}  // namespace sluice::cli
