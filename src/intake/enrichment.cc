#include "intake/enrichment.h"

#include <algorithm>

#include "core/json_text.h"
#include "intake/client_address.h"

namespace sluice::intake {
namespace {

using validate::CompiledSchema;
using validate::FieldPath;

constexpr std::size_t kMaxHeaderCharacters = 400;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

// A header may be written where the schema declares the field, or an object that it would lie in.
bool DeclaresFieldOrParent(const CompiledSchema& schema, std::string_view path) {
  if (schema.Declares(path) != CompiledSchema::Declared::kNo) return true;
  const std::size_t dot = path.rfind('.');
  return dot != std::string_view::npos &&
         schema.Declares(path.substr(0, dot)) == CompiledSchema::Declared::kObject;
}

// Header bytes are Latin-1, as Node reads them.
void AppendHeaderJson(std::string_view value, std::string& out) {
  std::string text;
  for (const char c : value.substr(0, kMaxHeaderCharacters)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text.push_back(c);
    } else {
      text.push_back(static_cast<char>(0xC0 | byte >> 6));
      text.push_back(static_cast<char>(0x80 | (byte & 0x3F)));
    }
  }
  core::AppendJsonString(out, text);
}

std::string_view HeaderValue(const RequestFacts& facts, const std::string& header) {
  const std::string_view value = facts.headers->Header(header);
  return value.empty() && header == "x-request-id" ? facts.request_id : value;
}

}  // namespace

void SetField(validate::EditableEvent& event, const FieldPath& path, std::string_view json,
              Replace replace) {
  const auto& steps = path.steps();
  const validate::Node* at = event.root();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (at->kind() != validate::Kind::kObject) return;
    const validate::Node* next = event.document().Find(at, steps[i].name, steps[i].hash);
    if (next != nullptr) {
      at = next;
      continue;
    }
    const std::uint32_t parent = event.IndexOf(at);
    if (i + 1 == steps.size()) {
      event.AddMember(parent, steps[i].name, json);
      return;
    }
    std::string nested;
    for (std::size_t j = i + 1; j < steps.size(); ++j) {
      nested += '{';
      core::AppendJsonString(nested, steps[j].name);
      nested += ':';
    }
    nested += json;
    nested.append(steps.size() - i - 1, '}');
    event.AddMember(parent, steps[i].name, nested);
    return;
  }
  if (replace == Replace::kReplace) event.ReplaceValue(event.IndexOf(at), json);
}

EnrichmentPlan::EnrichmentPlan(const core::Config& config, const CompiledSchema& schema,
                               const streams::StreamSettings* settings) {
  const auto declared = [&](std::string_view path) {
    return schema.Declares(path) != CompiledSchema::Declared::kNo;
  };
  const auto& enrichment = config.enrichment;
  const std::string& id_field = config.streams.id_field;
  const std::string& dt_field = config.streams.dt_field;
  if (enrichment.meta_id == core::WhenToSet::kMissing && declared(id_field)) {
    fields_.push_back({FieldPath(id_field), Source::kUuid, Existing::kKeep, {}});
  }
  if (enrichment.meta_dt != core::WhenToSet::kNever && declared(dt_field)) {
    const auto existing =
        enrichment.meta_dt == core::WhenToSet::kAlways ? Existing::kReplace : Existing::kKeep;
    fields_.push_back({FieldPath(dt_field), Source::kNow, existing, {}});
  }
  if (enrichment.meta_dt != core::WhenToSet::kNever && schema.title() &&
      schema.title()->starts_with("analytics/legacy") && declared("dt")) {
    fields_.push_back({FieldPath("dt"), Source::kNow, Existing::kKeep, {}});
  }
  const core::StringPairs& headers = settings != nullptr && settings->header_fields
                                         ? *settings->header_fields
                                         : enrichment.request_headers;
  for (const auto& [path, header] : headers) {
    if (header.empty() || !DeclaresFieldOrParent(schema, path)) continue;
    fields_.push_back({FieldPath(path), Source::kHeader, Existing::kKeep, Lower(header)});
  }
  if (enrichment.client_ip && declared("http.client_ip")) {
    fields_.push_back({FieldPath("http.client_ip"), Source::kClientIp, Existing::kKeep, {}});
  }
}

void EnrichmentPlan::Apply(const RequestFacts& facts, core::UuidGenerator& uuids,
                           validate::EditableEvent& event) const {
  for (const Field& field : fields_) {
    const Replace replace =
        field.existing == Existing::kReplace ? Replace::kReplace : Replace::kKeep;
    switch (field.source) {
      case Source::kNow:
        SetField(event, field.path, facts.now_json, replace);
        break;
      case Source::kUuid: {
        if (field.path.Find(event.document(), event.root()) != nullptr) break;
        char json[38];
        const core::UuidText uuid = uuids.Next();
        json[0] = '"';
        std::copy(uuid.begin(), uuid.end(), json + 1);
        json[37] = '"';
        SetField(event, field.path, {json, sizeof json}, replace);
        break;
      }
      case Source::kHeader:
      case Source::kClientIp: {
        if (facts.headers == nullptr) break;
        const std::string_view value =
            field.source == Source::kHeader
                ? HeaderValue(facts, field.header)
                : ClientAddress(facts.headers, facts.peer_address, facts.peer_is_trusted);
        if (value.empty() || field.path.Find(event.document(), event.root()) != nullptr) break;
        std::string json;
        AppendHeaderJson(value, json);
        SetField(event, field.path, json, replace);
        break;
      }
    }
  }
}

}  // namespace sluice::intake
