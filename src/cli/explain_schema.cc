#include "cli/explain_schema.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <utility>

#include "validate/schema_compiler.h"

namespace sluice::cli {
namespace {

namespace json = boost::json;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// A step of a JSON pointer as it stands in a fragment.
std::string DecodeStep(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
        HexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else if (text[i] == '~' && i + 1 < text.size() && text[i + 1] <= '1') {
      out += text[++i] == '1' ? '/' : '~';
    } else {
      out += text[i];
    }
  }
  return out;
}

const json::value* Child(const json::value& value, const std::string& step) {
  if (const auto* object = value.if_object()) return object->if_contains(step);
  if (const auto* array = value.if_array()) {
    std::size_t index = 0;
    const char* const end = step.data() + step.size();
    const auto [stopped, error] = std::from_chars(step.data(), end, index);
    if (error == std::errc() && stopped == end && index < array->size()) return &(*array)[index];
  }
  return nullptr;
}

bool IsIndex(std::string_view step) {
  return !step.empty() &&
         std::all_of(step.begin(), step.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Reads ['…'] from behind its opening quote; leaves what is behind the bracket.
std::string TakeQuoted(std::string_view& rest) {
  std::string name;
  while (!rest.empty() && rest.front() != '\'') {
    if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
    name += rest.front();
    rest.remove_prefix(1);
  }
  rest.remove_prefix(std::min<std::size_t>(rest.size(), 2));
  return name;
}

}  // namespace

registry::CompileFunction SchemaBook::Recording(registry::CompileFunction real) {
  return [this, real = std::move(real)](std::string_view uri, const json::value& schema,
                                        const registry::DocumentLookup& documents) {
    Keep(uri, schema);
    return real(uri, schema, [&](std::string_view wanted) {
      const json::value* found = documents(wanted);
      if (found != nullptr) Keep(wanted, *found);
      return found;
    });
  };
}

void SchemaBook::Keep(std::string_view uri, const json::value& document) {
  const std::lock_guard lock(mutex_);
  if (documents_.find(uri) == documents_.end()) documents_.emplace(std::string(uri), document);
}

const json::value* SchemaBook::Find(std::string_view uri) const {
  const std::lock_guard lock(mutex_);
  const auto exact = documents_.find(uri);
  if (exact != documents_.end()) return &exact->second;
  // As it stands in a $ref: relative to some base.
  const auto found = std::find_if(documents_.begin(), documents_.end(),
                                  [&](const auto& entry) { return entry.first.ends_with(uri); });
  return found == documents_.end() || uri.empty() ? nullptr : &found->second;
}

const json::object* SchemaBook::Holder(std::string_view uri, std::string_view schema_path) const {
  const std::size_t hash = schema_path.find('#');
  if (hash == std::string_view::npos) return nullptr;
  const json::value* at = hash == 0 ? Find(uri) : Find(schema_path.substr(0, hash));
  std::string_view pointer = schema_path.substr(hash + 1);
  pointer = pointer.substr(0, pointer.rfind('/'));
  while (at != nullptr && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    at = Child(*at, DecodeStep(step));
  }
  return at == nullptr ? nullptr : at->if_object();
}

FieldSteps StepsOf(std::string_view data_path) {
  FieldSteps steps;
  while (!data_path.empty()) {
    if (data_path.starts_with("['")) {
      data_path.remove_prefix(2);
      steps.push_back(TakeQuoted(data_path));
      continue;
    }
    const bool index = data_path.front() == '[';
    data_path.remove_prefix(1);
    const std::string_view name = data_path.substr(0, data_path.find_first_of(index ? "]" : ".["));
    data_path.remove_prefix(std::min(name.size() + (index ? 1 : 0), data_path.size()));
    steps.emplace_back(name);
  }
  return steps;
}

std::string FieldName(const FieldSteps& steps) {
  std::string name;
  for (const std::string& step : steps) {
    if (IsIndex(step) && !name.empty()) {
      name += '[' + step + ']';
    } else {
      if (!name.empty()) name += '.';
      name += step;
    }
  }
  return name.empty() ? "the event" : name;
}

const json::value* ValueAt(const json::value& root, const FieldSteps& steps) {
  const json::value* at = &root;
  for (const std::string& step : steps) {
    if (at != nullptr) at = Child(*at, step);
  }
  return at;
}

const json::object* DeclarationAt(const json::value& schema, const FieldSteps& steps) {
  const json::value* at = &schema;
  for (const std::string& step : steps) {
    const auto* object = at->if_object();
    if (object == nullptr) return nullptr;
    const json::value* next = nullptr;
    if (const auto* properties = object->if_contains("properties")) next = Child(*properties, step);
    if (next == nullptr && IsIndex(step)) next = object->if_contains("items");
    if (next == nullptr) next = object->if_contains("additionalProperties");
    if (next == nullptr) return nullptr;
    at = next;
  }
  return at->if_object();
}

std::string_view TextMember(const json::object& object, std::string_view name) {
  const auto* member = object.if_contains(name);
  return member != nullptr && member->is_string() ? std::string_view(member->get_string())
                                                  : std::string_view();
}

}  // namespace sluice::cli
