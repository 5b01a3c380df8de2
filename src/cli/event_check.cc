#include "cli/event_check.h"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <vector>

#include "core/json_text.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kSchemaField = "$schema";

std::string Counts(const std::map<std::string, std::uint64_t, std::less<>>& counts) {
  std::vector<std::pair<std::string_view, std::uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, count] : sorted) {
    if (!text.empty()) text += ", ";
    text += std::string(name) + ' ' + std::to_string(count);
  }
  return text;
}

}  // namespace

std::string CheckTotals::Summary() const {
  std::string text = std::to_string(events) + (events == 1 ? " event: " : " events: ") +
                     std::to_string(valid) + " valid, " + std::to_string(invalid) + " invalid, " +
                     std::to_string(errors) + " not checked\n";
  if (!by_keyword.empty()) text += "invalid by keyword: " + Counts(by_keyword) + '\n';
  if (!by_code.empty()) text += "not checked by reason: " + Counts(by_code) + '\n';
  return text;
}

void EventCheck::Check(std::string_view text, std::string& out) {
  ++totals_.events;
  document_.Clear();
  if (const core::Result<void> read = reader_.Read(text, {}, document_); !read) {
    AppendError(ToString(read.error().code), read.error().message, out);
    return;
  }
  event_.Load(document_, 0);
  std::string_view uri = options_.schema_uri;
  if (uri.empty()) {
    const validate::Node* field = event_.Find(kSchemaField);
    if (field == nullptr) {
      AppendError(ToString(core::ErrorCode::kMissingSchemaUri),
                  "Field(s) $schema were missing from event and could not be extracted.", out);
      return;
    }
    if (field->kind() != validate::Kind::kString) {
      AppendError(ToString(core::ErrorCode::kSchemaUriNotAllowed), "$schema is not a string", out);
      return;
    }
    uri = document_.String(*field);
  }
  const core::Result<registry::SchemaPtr> schema = load_(uri);
  if (!schema) {
    AppendError(ToString(schema.error().code), schema.error().message, out);
    return;
  }
  const bool edited_before = event_.edited();  // duplicate members were dropped
  before_.clear();
  if (edited_before) event_.AppendTo(before_);
  switch (validator_.Validate(**schema, event_, options_.defaults)) {
    case validate::Verdict::kValid:
      return AppendValid(edited_before, out);
    case validate::Verdict::kInvalid:
      return AppendInvalid(out);
    case validate::Verdict::kExhausted:
      return AppendError("pattern_exhausted", validator_.message(), out);
  }
}

void EventCheck::AppendValid(bool edited_before, std::string& out) {
  ++totals_.valid;
  out += R"({"status":"valid")";
  if (event_.edited()) {
    scratch_.clear();
    event_.AppendTo(scratch_);
    if (!edited_before || scratch_ != before_) out += R"(,"event":)" + scratch_;
  }
  out += "}\n";
}

void EventCheck::AppendInvalid(std::string& out) {
  ++totals_.invalid;
  out += R"({"status":"invalid","errors":)";
  const std::size_t errors = out.size();
  validator_.AppendErrorsJson(out);
  CountKeywords(std::string_view(out).substr(errors));
  out += R"(,"errorsText":)";
  scratch_.clear();
  validator_.AppendErrorsText(scratch_);
  core::AppendJsonString(out, scratch_);
  out += "}\n";
}

void EventCheck::AppendError(std::string_view code, std::string_view message, std::string& out) {
  ++totals_.errors;
  ++totals_.by_code[std::string(code)];
  out += R"({"status":"error","message":)";
  core::AppendJsonString(out, message);
  out += "}\n";
}

void EventCheck::CountKeywords(std::string_view errors_json) {
  boost::system::error_code failed;
  const boost::json::value errors = boost::json::parse(errors_json, failed);
  if (failed || !errors.is_array()) return;
  for (const boost::json::value& error : errors.get_array()) {
    const boost::json::value* keyword =
        error.is_object() ? error.get_object().if_contains("keyword") : nullptr;
    if (keyword != nullptr && keyword->is_string())
      ++totals_.by_keyword[std::string(keyword->get_string())];
  }
}

}  // namespace sluice::cli
