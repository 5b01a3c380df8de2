#include "validate/error_list.h"

#include "core/json_text.h"
#include "validate/editable_event.h"
#include "validate/schema_text.h"

namespace sluice::validate {

void AppendPointer(const EditableEvent& event, std::uint32_t node, std::string& out) {
  std::uint32_t at = 0;
  while (at < node && event.at(at)->is_container()) {
    const bool is_object = event.at(at)->kind() == Kind::kObject;
    std::uint32_t child = at + 1;
    std::uint32_t index = 0;
    // A key counts with its value.
    const auto next = [&] {
      const std::uint32_t value = child + (is_object ? 1 : 0);
      return value + event.at(value)->nodes();
    };
    for (; next() <= node; ++index) child = next();
    if (is_object) {
      AppendPointerStep(out, event.document().String(*event.at(child)));
      at = child + 1;
    } else {
      AppendPointerStep(out, std::to_string(index));
      at = child;
    }
  }
}

void ErrorList::Clear() {
  text_.clear();
  records_.clear();
  muted_errors_ = 0;
  muted_ = 0;
}

ErrorList::Piece ErrorList::Keep(std::string_view text) {
  const Piece piece{text_.size(), text.size()};
  text_.append(text);
  return piece;
}

void ErrorList::Add(const ErrorText& error) {
  if (muted_ > 0 || records_.size() >= kMaxErrors) {
    ++muted_errors_;
    return;
  }
  Record record;
  record.keyword = error.keyword;
  record.data_path = Keep(error.data_path);
  record.schema_path = Keep(error.schema_path);
  record.schema_path.size += Keep(error.schema_path_end).size;
  record.params = Keep(error.params);
  record.message = Keep(error.message);
  record.where = error.where;
  records_.push_back(record);
}

void ErrorList::ResetTo(Mark mark) {
  muted_errors_ = mark.muted_errors;
  if (records_.size() <= mark.records) return;
  text_.resize(records_[mark.records].data_path.at);
  records_.resize(mark.records);
}

void ErrorList::SetPropertyName(Mark since, std::string_view name) {
  if (records_.size() <= since.records) return;
  const Piece piece = Keep(name);
  for (std::size_t i = since.records; i < records_.size(); ++i) {
    records_[i].property_name = piece;
    records_[i].has_property_name = true;
  }
}

void ErrorList::AppendJson(std::string& out) const {
  out.push_back('[');
  for (const Record& record : records_) {
    if (out.back() != '[') out.push_back(',');
    out.append(R"({"keyword":)");
    core::AppendJsonString(out, record.keyword);
    out.append(R"(,"dataPath":)");
    core::AppendJsonString(out, Text(record.data_path));
    out.append(R"(,"schemaPath":)");
    core::AppendJsonString(out, Text(record.schema_path));
    out.append(R"(,"params":)");
    out.append(Text(record.params));
    out.append(R"(,"message":)");
    core::AppendJsonString(out, Text(record.message));
    if (record.has_property_name) {
      out.append(R"(,"propertyName":)");
      core::AppendJsonString(out, Text(record.property_name));
    }
    out.push_back('}');
  }
  out.push_back(']');
}

void ErrorList::AppendText(std::string& out) const {
  bool first = true;
  for (const Record& record : records_) {
    if (!first) out.append(", ");
    first = false;
    out.append("'").append(Text(record.data_path)).append("' ").append(Text(record.message));
  }
}

}  // namespace sluice::validate
