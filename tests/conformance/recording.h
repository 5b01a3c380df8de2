#pragma once

#include <string>
#include <string_view>

#include "conformance/engine_runner.h"
#include "validate/document.h"

namespace sluice::test {

// A JSON text that was recorded from the original, kept with what its nodes view.
class Recording {
 public:
  explicit Recording(std::string text);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  bool ok() const { return ok_; }
  const std::string& text() const { return text_; }
  const validate::Document& document() const { return document_; }
  const validate::Node* root() const { return document_.nodes.data(); }
  // A member of an object, or null; its string, or an empty one.
  const validate::Node* Find(const validate::Node* object, std::string_view key) const;
  std::string String(const validate::Node* object, std::string_view key) const;
  const validate::Node* Find(std::string_view key) const { return Find(root(), key); }
  std::string String(std::string_view key) const { return String(root(), key); }

 private:
  std::string text_;
  validate::Document document_;
  bool ok_ = false;
};

// Compares an outcome with `valid`, `errors`, `errorsText` and `after` of a recorded object.
// Returns what differs, or an empty text.
std::string Difference(const Recording& recording, const validate::Node* wanted,
                       const Outcome& outcome);

}  // namespace sluice::test
