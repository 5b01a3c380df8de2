#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "registry/schema_registry.h"
#include "validate/editable_event.h"
#include "validate/reader.h"
#include "validate/validator.h"

namespace sluice::cli {

// How many events had which verdict.
struct CheckTotals {
  std::uint64_t events = 0;
  std::uint64_t valid = 0;
  std::uint64_t invalid = 0;
  std::uint64_t errors = 0;
  std::map<std::string, std::uint64_t, std::less<>> by_keyword;  // errors of invalid events
  std::map<std::string, std::uint64_t, std::less<>> by_code;

  bool all_valid() const { return valid == events; }
  // For a person, some lines.
  std::string Summary() const;
};

// Holds one event after the other against its schema. Not thread-safe.
class EventCheck {
 public:
  // Is asked for each event, so it should remember.
  using LoadSchema = std::function<core::Result<registry::SchemaPtr>(std::string_view schema_uri)>;

  struct Options {
    std::string schema_uri;  // empty: each event's own $schema
    validate::UseDefaults defaults = validate::UseDefaults::kYes;
  };

  EventCheck(Options options, LoadSchema load)
      : options_(std::move(options)), load_(std::move(load)) {}

  // Appends the verdict on an event's text (validate::kReadPadding bytes readable behind it), a
  // JSON object and a line feed.
  void Check(std::string_view text, std::string& out);

  const CheckTotals& totals() const { return totals_; }

 private:
  void AppendValid(bool edited_before, std::string& out);
  void AppendInvalid(std::string& out);
  void AppendError(std::string_view code, std::string_view message, std::string& out);
  void CountKeywords(std::string_view errors_json);

  Options options_;
  LoadSchema load_;
  validate::Reader reader_;
  validate::Document document_;
  validate::EditableEvent event_;
  validate::Validator validator_;
  std::string before_;  // the event's text before validation, where it had to be kept
  std::string scratch_;
  CheckTotals totals_;
};

}  // namespace sluice::cli
