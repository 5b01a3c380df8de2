#include <algorithm>
#include <charconv>

#include "core/json_text.h"
#include "validate/error_pass.h"
#include "validate/schema_text.h"

namespace sluice::validate {
namespace {

std::uint32_t IndexOfKey(std::string_view key) {
  std::uint32_t index = 0;
  std::from_chars(key.data(), key.data() + key.size(), index);
  return index;
}

}  // namespace

std::uint32_t ErrorPass::FindMember(std::uint32_t object, std::string_view name) const {
  const Node* value = event_->document().Find(event_->at(object), name);
  return value == nullptr ? kNowhere : event_->IndexOf(value);
}

// JavaScript lists keys that are array indices first, by number. Such keys are rare: the list of
// them is only made if there is one.
template <class Visit>
void ErrorPass::ForEachKey(std::uint32_t object, const Visit& visit) {
  const Document& document = event_->document();
  bool has_index_keys = false;
  const std::uint32_t count = Document::Count(event_->at(object));
  std::uint32_t key = object + 1;
  for (std::uint32_t i = 0; i < count && !has_index_keys; ++i) {
    has_index_keys = IsArrayIndex(document.String(*event_->at(key)));
    key += 1 + event_->at(key + 1)->nodes();
  }
  if (!has_index_keys) {
    key = object + 1;
    for (std::uint32_t i = 0; i < count && !stopped_; ++i) {
      visit(key);
      key += 1 + event_->at(key + 1)->nodes();
    }
    return;
  }
  // Keys by their number among the members, since nodes may move while they are visited.
  struct Entry {
    std::uint64_t rank;
    std::uint32_t member;
  };
  std::vector<Entry> entries;
  key = object + 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view name = document.String(*event_->at(key));
    const bool is_index = IsArrayIndex(name);
    entries.push_back({is_index ? IndexOfKey(name) : (std::uint64_t{1} << 32) + i, i});
    key += 1 + event_->at(key + 1)->nodes();
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.rank < b.rank; });
  std::vector<std::uint32_t> keys(count);
  const std::size_t nodes = event_->at(object)->inside;
  bool moved = true;
  for (const Entry& entry : entries) {
    if (stopped_) return;
    if (moved || event_->at(object)->inside != nodes) {
      key = object + 1;
      for (std::uint32_t i = 0; i < count; ++i) {
        keys[i] = key;
        key += 1 + event_->at(key + 1)->nodes();
      }
      moved = event_->at(object)->inside != nodes;
    }
    visit(keys[entry.member]);
  }
}

void ErrorPass::CheckObject(const ObjectRules& rules, const Value& value) {
  if (defaults_ && !composite_ && rules.default_count > 0) PutPropertyDefaults(rules, value);
  const std::uint32_t at = value.at;
  if (rules.has_max || rules.has_min) CheckSize(rules, at);
  if (rules.required.count > 0) CheckRequired(rules, at);
  if (rules.name_dependencies.count + rules.schema_dependencies.count > 0) {
    CheckDependencies(rules, at);
  }
  if (rules.names != kAnySchema) CheckNames(rules, at);
  if (rules.additional != Additional::kAllowed) CheckAdditional(rules, at);
  CheckProperties(rules, at);
  if (rules.patterns.count > 0) CheckPatternProperties(rules, at);
}

void ErrorPass::PutPropertyDefaults(const ObjectRules& rules, const Value& value) {
  for (std::uint32_t i = 0; i < rules.properties.count; ++i) {
    const std::uint32_t index = rules.properties.first + i;
    const Property& property = program_->properties[index];
    if (property.has_default == 0) continue;
    const std::string_view name = program_->Name(property);
    if (FindMember(value.at, name) != kNowhere) continue;
    event_->AddMember(value.at, name,
                      program_->Text(program_->property_details[index].default_json));
  }
}

void ErrorPass::CheckSize(const ObjectRules& rules, std::uint32_t at) {
  const auto count = static_cast<double>(Document::Count(event_->at(at)));
  if (rules.has_max && count > rules.max_properties) {
    TellCount("maxProperties", "properties", rules.max_properties, at);
  }
  if (rules.has_min && count < rules.min_properties) {
    TellCount("minProperties", "properties", rules.min_properties, at);
  }
}

void ErrorPass::TellMissing(std::string_view name, std::uint32_t at) {
  params_.assign(R"({"missingProperty":)");
  core::AppendJsonString(params_, name);
  params_.push_back('}');
  message_.assign("should have required property '").append(name).append("'");
  Tell("required", "/required", params_, message_, at);
}

void ErrorPass::CheckRequired(const ObjectRules& rules, std::uint32_t at) {
  for (std::uint32_t i = 0; i < rules.required.count; ++i) {
    const std::string_view name = program_->Text(program_->texts[rules.required.first + i]);
    if (FindMember(at, name) == kNowhere) TellMissing(name, at);
  }
}

void ErrorPass::CheckDependencies(const ObjectRules& rules, std::uint32_t at) {
  for (std::uint32_t i = 0; i < rules.name_dependencies.count; ++i) {
    const Dependency& dependency = program_->dependencies[rules.name_dependencies.first + i];
    const std::string_view property = program_->Text(dependency.name);
    if (FindMember(at, property) == kNowhere) continue;
    const std::string_view names = program_->Text(dependency.names_text);
    for (std::uint32_t n = 0; n < dependency.names_count; ++n) {
      const std::string_view name = program_->Text(program_->texts[dependency.names_first + n]);
      if (FindMember(at, name) != kNowhere) continue;
      params_.assign(R"({"property":)");
      core::AppendJsonString(params_, property);
      params_.append(R"(,"missingProperty":)");
      core::AppendJsonString(params_, name);
      params_.append(R"(,"depsCount":)").append(std::to_string(dependency.names_count));
      params_.append(R"(,"deps":)");
      core::AppendJsonString(params_, names);
      params_.push_back('}');
      message_.assign("should have ");
      message_.append(dependency.names_count == 1 ? "property " : "properties ").append(names);
      message_.append(" when property ").append(property).append(" is present");
      Tell("dependencies", "/dependencies", params_, message_, at);
    }
  }
  for (std::uint32_t i = 0; i < rules.schema_dependencies.count; ++i) {
    const Dependency& dependency = program_->dependencies[rules.schema_dependencies.first + i];
    if (FindMember(at, program_->Text(dependency.name)) == kNowhere) continue;
    const PathStep step(schema_path_, program_->Text(dependency.schema_path));
    Check(dependency.schema, At(at));
  }
}

void ErrorPass::CheckNames(const ObjectRules& rules, std::uint32_t at) {
  ForEachKey(at, [&](std::uint32_t key) {
    Value name = At(key);
    name.node.bits = (name.node.bits & ~7u) | static_cast<std::uint32_t>(Kind::kString);
    const ErrorList::Mark mark = errors_.mark();
    const bool composite = std::exchange(composite_, true);
    bool valid = true;
    {
      const PathStep step(schema_path_, "/propertyNames");
      valid = Check(rules.names, name);
    }
    composite_ = composite;
    if (valid) return;
    const std::string_view text = event_->document().String(name.node);
    errors_.SetPropertyName(mark, text);
    params_.assign(R"({"propertyName":)");
    core::AppendJsonString(params_, text);
    params_.push_back('}');
    message_.assign("property name '").append(text).append("' is invalid");
    Tell("propertyNames", "/propertyNames", params_, message_, at);
  });
}

bool ErrorPass::IsAdditional(const ObjectRules& rules, std::uint32_t key) {
  const Node& node = *event_->at(key);
  const std::string_view name = event_->document().String(node);
  const Property* property = FindProperty(*program_, rules, node.extra(), name);
  if (property != nullptr && property->declared) return false;
  for (std::uint32_t i = 0; i < rules.patterns.count; ++i) {
    if (Matches(program_->pattern_properties[rules.patterns.first + i].pattern, name)) return false;
  }
  return true;
}

// The value of a member that ajv reaches with a computed key: its path is ['key'] as it stands.
void ErrorPass::CheckMember(SchemaId schema, std::uint32_t key, std::string_view schema_step) {
  const std::string_view name = event_->document().String(*event_->at(key));
  const PathStep data(data_path_, "['", name, "']");
  const PathStep step(schema_path_, schema_step);
  Check(schema, At(key + 1));
}

void ErrorPass::CheckAdditional(const ObjectRules& rules, std::uint32_t at) {
  ForEachKey(at, [&](std::uint32_t key) {
    if (!IsAdditional(rules, key)) return;
    if (rules.additional == Additional::kSchema) {
      CheckMember(rules.additional_schema, key, "/additionalProperties");
      return;
    }
    params_.assign(R"({"additionalProperty":)");
    core::AppendJsonString(params_, event_->document().String(*event_->at(key)));
    params_.push_back('}');
    Tell("additionalProperties", "/additionalProperties", params_,
         "should NOT have additional properties", at);
  });
}

// In schema order. Where no default can move nodes, one walk over the event's members finds them
// all.
void ErrorPass::CheckProperties(const ObjectRules& rules, std::uint32_t at) {
  const std::size_t base = slots_.size();
  const bool use_slots = !defaults_ && rules.properties.count > 0;
  if (use_slots) {
    slots_.resize(base + rules.properties.count, kNowhere);
    const std::uint32_t end = at + event_->at(at)->nodes();
    for (std::uint32_t key = at + 1; key < end; key += 1 + event_->at(key + 1)->nodes()) {
      const Node& node = *event_->at(key);
      const Property* property =
          FindProperty(*program_, rules, node.extra(), event_->document().String(node));
      if (property == nullptr) continue;
      const auto index = static_cast<std::uint32_t>(property - program_->properties.data());
      slots_[base + index - rules.properties.first] = key + 1;
    }
  }
  for (std::uint32_t i = 0; i < rules.properties.count && !stopped_; ++i) {
    const Property& property = program_->properties[rules.properties.first + i];
    if (property.schema == kAnySchema) continue;
    const PropertyDetail& detail = program_->property_details[rules.properties.first + i];
    const std::uint32_t value =
        use_slots ? slots_[base + i] : FindMember(at, program_->Name(property));
    if (value == kNowhere) {
      if (detail.told_missing) TellMissing(program_->Name(property), at);
      continue;
    }
    const PathStep data(data_path_, program_->Text(detail.data_path));
    const PathStep step(schema_path_, program_->Text(detail.schema_path));
    Check(property.schema, At(value));
  }
  slots_.resize(base);
}

void ErrorPass::CheckPatternProperties(const ObjectRules& rules, std::uint32_t at) {
  for (std::uint32_t i = 0; i < rules.patterns.count; ++i) {
    const PatternProperty& pattern = program_->pattern_properties[rules.patterns.first + i];
    if (pattern.schema == kAnySchema) continue;
    ForEachKey(at, [&](std::uint32_t key) {
      const std::string_view name = event_->document().String(*event_->at(key));
      if (Matches(pattern.pattern, name)) {
        CheckMember(pattern.schema, key, program_->Text(pattern.schema_path));
      }
    });
  }
}

}  // namespace sluice::validate
