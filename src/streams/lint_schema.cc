#include "streams/lint_schema.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <string>

namespace sluice::streams {
namespace {

using validate::CompiledSchema;

class Lint {
 public:
  Lint(const std::string& key, std::vector<Finding>& findings) : key_(key), findings_(findings) {}
  void Report(Severity severity, std::string_view kind, std::string text) {
    findings_.push_back({severity, kind, key_, std::move(text)});
  }

 private:
  const std::string& key_;
  std::vector<Finding>& findings_;
};

// Whether every valid event has the field: each step is required by the object it lies in. `last`
// becomes the step that is not.
bool IsRequired(const boost::json::value& schema, std::string_view path, std::string& missing) {
  const auto* at = schema.if_object();
  std::string done;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    if (!done.empty()) done += '.';
    done += step;
    missing = done;
    if (at == nullptr) return false;
    const auto* required = at->if_contains("required");
    if (required == nullptr || !required->is_array()) return false;
    const auto& names = required->get_array();
    if (std::none_of(names.begin(), names.end(), [&](const boost::json::value& name) {
          return name.is_string() && std::string_view(name.get_string()) == step;
        })) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    path.remove_prefix(dot + 1);
    const auto* properties = at->if_contains("properties");
    if (properties == nullptr || !properties->is_object()) return false;
    const auto* next = properties->get_object().if_contains(step);
    at = next == nullptr ? nullptr : next->if_object();
  }
}

void LintKeyFields(const StreamSettings& entry, const TitleSchema& schema, Lint& lint) {
  for (const auto& [key_path, event_path] : entry.message_key_fields) {
    if (schema.compiled->Declares(event_path) == CompiledSchema::Declared::kNo) {
      lint.Report(Severity::kError, "key_field_missing",
                  "message_key_fields takes " + key_path + " from " + event_path + ", which " +
                      schema.uri + " does not declare: events without it are refused");
      continue;
    }
    std::string missing;
    if (!IsRequired(schema.document, event_path, missing)) {
      lint.Report(Severity::kWarning, "key_field_optional",
                  "message_key_fields takes " + key_path + " from " + event_path + ", but " +
                      schema.uri + " does not require " + missing +
                      ": a valid event without it is refused");
    }
  }
}

void LintCanary(const boost::json::object& settings, const TitleSchema& schema, Lint& lint) {
  const auto* enabled = settings.if_contains("canary_events_enabled");
  if (enabled == nullptr || *enabled != true) return;
  const auto* examples =
      schema.document.is_object() ? schema.document.get_object().if_contains("examples") : nullptr;
  if (examples == nullptr || !examples->is_array() || examples->get_array().empty()) {
    lint.Report(Severity::kError, "canary_without_example",
                "canary_events_enabled is true, but " + schema.uri +
                    " has no examples to make canary events of");
  }
}

}  // namespace

void LintSchema(const StreamSettings& entry, const boost::json::object& settings,
                const FindTitle& find_title, std::vector<Finding>& findings) {
  Lint lint(entry.key, findings);
  const std::string title = entry.schema_title.value_or("");
  if (title.empty()) {
    lint.Report(Severity::kError, "no_schema_title", "has no schema_title: its events are refused");
    return;
  }
  if (title.starts_with('/')) {
    lint.Report(Severity::kError, "schema_title_slash",
                "schema_title " + title +
                    " begins with a slash, which no schema's title does: its "
                    "events are refused");
    return;
  }
  const auto found = find_title(title);
  if (!found) {
    const bool missing = found.error().code == core::ErrorCode::kSchemaNotFound;
    lint.Report(Severity::kError, missing ? "schema_not_found" : "schema_unusable",
                missing ? found.error().message : title + ": " + found.error().message);
    return;
  }
  if (*found == nullptr) return;
  const TitleSchema& schema = **found;
  if (schema.compiled->title() != title) {
    lint.Report(Severity::kError, "schema_title_differs",
                "schema_title is " + title + ", but the title of " + schema.uri + " is " +
                    schema.compiled->title().value_or("missing") + ": its events are refused");
  }
  LintKeyFields(entry, schema, lint);
  LintCanary(settings, schema, lint);
}

}  // namespace sluice::streams
