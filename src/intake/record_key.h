#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "validate/document.h"
#include "validate/field_path.h"

namespace sluice::intake {

// How to make a record's key from an event: `message_key_fields` of a stream. Immutable.
class RecordKey {
 public:
  RecordKey() = default;
  // Pairs of key path and event path; dots in a key path nest.
  explicit RecordKey(const core::StringPairs& message_key_fields);

  bool empty() const { return fields_.empty(); }

  // Appends the key: a compact JSON object with the values in the configured order, written as
  // JSON.stringify writes them, so that a record lands in the partition where the original put it.
  // Fails with kMessageKeyMissing.
  core::Result<void> AppendTo(const validate::Document& document, const validate::Node* event,
                              std::string& out) const;

 private:
  struct Field {
    std::string before;  // what stands in the key before the value, brackets and names
    validate::FieldPath path;
    std::string key_path;
  };
  std::vector<Field> fields_;
  std::string after_;
};

}  // namespace sluice::intake
