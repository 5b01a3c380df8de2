#include "cli/explain_print.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/explain_text.h"

namespace sluice::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kNameWidth = 13;
constexpr std::size_t kStateWidth = 6;
constexpr std::string_view kIndent = "                     ";

std::string Padded(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, text.size()), ' ');
}

std::string_view Mark(StepState state) {
  switch (state) {
    case StepState::kGood:
      return "good";
    case StepState::kBad:
      return "BAD";
    case StepState::kSkipped:
      return "-";
  }
  return {};
}

void AppendChange(const Change& change, std::string& out) {
  out.append(kIndent).append(change.field).append(" = ").append(Cut(change.value));
  if (!change.before.empty()) out.append(" instead of ").append(Cut(change.before));
  out.append(": ").append(change.source).append("\n");
}

void AppendViolation(const Violation& violation, std::size_t number, std::string& out) {
  out.append("\n  ").append(std::to_string(number)).append(". ").append(violation.field);
  if (!violation.found.empty()) out.append(": ").append(violation.found);
  out.append("\n     ").append(violation.problem).append("\n");
  if (!violation.description.empty()) {
    out.append("     what it is for: ").append(violation.description).append("\n");
  }
  if (!violation.suggestion.empty()) {
    out.append("     -> ").append(violation.suggestion).append("\n");
  }
}

json::object JsonOf(const Change& change) {
  json::object object{{"field", change.field}, {"value", change.value}, {"source", change.source}};
  if (!change.before.empty()) object["before"] = change.before;
  return object;
}

json::object JsonOf(const Violation& violation) {
  return {{"field", violation.field},           {"found", violation.found},
          {"problem", violation.problem},       {"description", violation.description},
          {"suggestion", violation.suggestion}, {"schemaPath", violation.schema_path}};
}

json::object JsonOf(const Step& step) {
  json::object object{{"step", step.name}, {"state", ToString(step.state)}, {"text", step.text}};
  if (!step.hints.empty()) object["hints"] = json::array(step.hints.begin(), step.hints.end());
  json::array changes;
  for (const Change& change : step.changes) changes.push_back(JsonOf(change));
  if (!changes.empty()) object["changes"] = std::move(changes);
  json::array violations;
  for (const Violation& violation : step.violations) violations.push_back(JsonOf(violation));
  if (!violations.empty()) object["violations"] = std::move(violations);
  return object;
}

}  // namespace

std::string ExplanationText(const Explanation& explanation) {
  std::string out;
  for (const Step& step : explanation.steps) {
    out += "  " + Padded(step.name, kNameWidth) + Padded(Mark(step.state), kStateWidth) +
           step.text + '\n';
    for (const Change& change : step.changes) AppendChange(change, out);
    for (const std::string& hint : step.hints) out.append(kIndent).append(hint).append("\n");
    std::size_t number = 0;
    for (const Violation& violation : step.violations) AppendViolation(violation, ++number, out);
    if (number > 0) out += '\n';
  }
  return out;
}

std::string ExplanationJson(const Explanation& explanation) {
  json::object object{{"accepted", explanation.code.empty()}, {"status", explanation.status}};
  if (!explanation.code.empty()) object["code"] = explanation.code;
  json::array steps;
  for (const Step& step : explanation.steps) steps.push_back(JsonOf(step));
  object["steps"] = std::move(steps);
  if (explanation.record) {
    const ProducedRecord& record = *explanation.record;
    json::object told{{"topic", record.topic}};
    if (!record.key.empty()) told["key"] = record.key;
    if (record.timestamp_ms != 0) told["timestamp_ms"] = record.timestamp_ms;
    told["value"] = record.value;
    object["record"] = std::move(told);
  }
  return json::serialize(object);
}

}  // namespace sluice::cli
