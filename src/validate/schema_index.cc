#include "validate/schema_index.h"

#include <algorithm>
#include <charconv>

#include "validate/meta_schema.h"
#include "validate/schema_text.h"

namespace sluice::validate {
namespace {

// References that lead to references: more hops than this are a circle.
constexpr int kMaxHops = 100;

const std::string* IdOf(const boost::json::value& schema, std::string& copy) {
  const auto* object = schema.if_object();
  if (object == nullptr) return nullptr;
  for (const char* key : {"$id", "id"}) {
    const auto* id = object->if_contains(key);
    if (id != nullptr && id->is_string() && !id->get_string().empty()) {
      copy.assign(id->get_string());
      return &copy;
    }
  }
  return nullptr;
}

bool HasReference(const boost::json::value& schema) {
  const auto* object = schema.if_object();
  const auto* ref = object == nullptr ? nullptr : object->if_contains("$ref");
  return ref != nullptr && ref->is_string();
}

bool HoldsSchema(std::string_view key) {
  static constexpr std::string_view kKeywords[] = {"additionalItems",
                                                   "additionalProperties",
                                                   "contains",
                                                   "else",
                                                   "if",
                                                   "items",
                                                   "not",
                                                   "propertyNames",
                                                   "then"};
  return std::find(std::begin(kKeywords), std::end(kKeywords), key) != std::end(kKeywords);
}

bool HoldsNamedSchemas(std::string_view key) {
  return key == "definitions" || key == "$defs" || key == "properties" ||
         key == "patternProperties" || key == "dependencies";
}

bool HoldsSchemaList(std::string_view key) {
  return key == "items" || key == "allOf" || key == "anyOf" || key == "oneOf";
}

// ajv looks for no $id in what these keywords hold, since it maps names to schemas.
bool KeepsScope(std::string_view token) { return HoldsNamedSchemas(token) || token == "enum"; }

const boost::json::value* Step(const boost::json::value& value, std::string_view token) {
  if (const auto* object = value.if_object()) return object->if_contains(token);
  const auto* array = value.if_array();
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  const bool whole = error == std::errc{} && end == token.data() + token.size();
  if (array == nullptr || !whole || (token.size() > 1 && token[0] == '0')) return nullptr;
  return index < array->size() ? &(*array)[index] : nullptr;
}

std::string UnescapeToken(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      out.push_back(token[++i] == '0' ? '~' : '/');
    } else {
      out.push_back(token[i]);
    }
  }
  return out;
}

}  // namespace

std::string SchemaIndex::BaseWithin(const std::string& base, const boost::json::value& schema) {
  std::string id;
  if (HasReference(schema) || IdOf(schema, id) == nullptr || id[0] == '#') return base;
  return ResolveUri(base, id).WithoutFragment();
}

std::string SchemaIndex::Add(std::string_view uri, const boost::json::value& root) {
  if (NestingDepth(root, kMaxNesting) > kMaxNesting) {
    return "nests deeper than " + std::to_string(kMaxNesting) + " levels";
  }
  SchemaDocument& document = added_.emplace_back();
  document.uri = ResolveUri("", uri).WithoutFragment();
  document.root = &root;
  const SchemaPlace place{&root, &document, document.uri, ""};
  problem_.clear();
  IndexNames(place);
  names_[document.uri] = place;
  Name(BaseWithin(document.uri, root), place);
  return problem_;
}

// A name that a document has is not taken from it. Of nested ones the last counts, as in ajv.
void SchemaIndex::Name(const std::string& uri, const SchemaPlace& place) {
  const auto [known, fresh] = names_.try_emplace(uri, place);
  if (!fresh && !known->second.pointer.empty()) known->second = place;
}

void SchemaIndex::IndexNames(const SchemaPlace& place) {
  const auto* object = place.schema->if_object();
  if (object == nullptr) return;
  SchemaPlace here = place;
  std::string id;
  if (!HasReference(*place.schema) && IdOf(*place.schema, id) != nullptr) {
    const UriRef uri = ResolveUri(place.base, id);
    if (id[0] != '#') {
      here.base = uri.WithoutFragment();
      if (!place.pointer.empty()) Name(here.base, place);
    }
    if (!uri.fragment.empty() && uri.fragment[0] != '/') {
      const auto [known, fresh] = names_.try_emplace(here.base + "#" + uri.fragment, place);
      if (!fresh && *known->second.schema != *place.schema && problem_.empty()) {
        problem_ = "id \"" + id + "\" resolves to more than one schema";
      }
    }
  }
  for (const auto& [key, value] : MembersInOrder(*object)) {
    IndexChildren(here, key, *value);
  }
}

// Only below keywords that hold schemas: an "id" elsewhere names nothing.
void SchemaIndex::IndexChildren(const SchemaPlace& place, std::string_view key,
                                const boost::json::value& value) {
  SchemaPlace child = place;
  AppendPointerStep(child.pointer, key);
  const std::size_t length = child.pointer.size();
  if (const auto* list = value.if_array()) {
    if (!HoldsSchemaList(key)) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      child.pointer.resize(length);
      AppendPointerStep(child.pointer, std::to_string(i));
      child.schema = &(*list)[i];
      IndexNames(child);
    }
  } else if (HoldsNamedSchemas(key)) {
    const auto* map = value.if_object();
    if (map == nullptr) return;
    for (const auto& [name, schema] : MembersInOrder(*map)) {
      child.pointer.resize(length);
      AppendPointerStep(child.pointer, name);
      child.schema = schema;
      IndexNames(child);
    }
  } else if (HoldsSchema(key)) {
    child.schema = &value;
    IndexNames(child);
  }
}

bool SchemaIndex::Load(const std::string& uri) {
  const boost::json::value* root = MetaSchemaDocument(uri);
  if (root == nullptr && documents_) root = documents_(uri);
  if (root == nullptr) {
    if (std::find(needed_.begin(), needed_.end(), uri) == needed_.end()) needed_.push_back(uri);
    return false;
  }
  std::string problem = Add(uri, *root);
  if (!problem.empty()) {
    problem_ = uri + ": " + problem;
    return false;
  }
  return true;
}

std::optional<SchemaPlace> SchemaIndex::Resolve(const std::string& base,
                                                std::string_view reference) {
  problem_.clear();
  return ResolveHop(base, reference, 0);
}

std::optional<SchemaPlace> SchemaIndex::ResolveHop(const std::string& base,
                                                   std::string_view reference, int hops) {
  if (hops > kMaxHops) {
    problem_ = "it leads to itself";
    return std::nullopt;
  }
  const UriRef uri = ResolveUri(base, reference);
  const std::string document = uri.WithoutFragment();
  auto found = names_.find(document);
  if (found == names_.end()) {
    if (!Load(document)) return std::nullopt;
    found = names_.find(document);
  }
  if (uri.fragment.empty()) return found->second;
  std::string fragment;
  if (!PercentDecode(uri.fragment, fragment)) {
    problem_ = "its fragment is not percent-encoded";
    return std::nullopt;
  }
  if (fragment[0] == '/') return Follow(found->second, fragment, hops);
  const auto named = names_.find(document + "#" + uri.fragment);
  if (named != names_.end()) return named->second;
  problem_ = "no schema has that id";
  return std::nullopt;
}

// Walks a JSON pointer. As in ajv a schema on the way that is a $ref stands for what it refers to.
std::optional<SchemaPlace> SchemaIndex::Follow(SchemaPlace place, const std::string& fragment,
                                               int hops) {
  std::string_view rest = fragment;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string token = UnescapeToken(rest.substr(0, slash));
    rest.remove_prefix(slash);
    const boost::json::value* next = Step(*place.schema, token);
    if (next == nullptr) {
      problem_ = "nothing is at " + place.pointer + "/" + token;
      return std::nullopt;
    }
    place.base = BaseWithin(place.base, *place.schema);
    place.schema = next;
    AppendPointerStep(place.pointer, token);
    if (KeepsScope(token) || !HasReference(*next)) continue;
    const std::string reference(next->get_object().at("$ref").get_string());
    auto target = ResolveHop(place.base, reference, hops + 1);
    if (target) {
      // ajv follows JSON pointers, and other documents that it knows by their URI alone, but
      // neither
      // "#" nor names.
      const bool pointer = UriRef::Parse(reference).fragment.starts_with('/');
      std::string id;
      const bool other = target->pointer.empty() && target->document != place.document &&
                         IdOf(*target->schema, id) == nullptr;
      if (pointer || other) place = std::move(*target);
    } else if (hops + 1 > kMaxHops || problem_ == "it leads to itself") {
      return std::nullopt;
    }
  }
  return place;
}

}  // namespace sluice::validate
