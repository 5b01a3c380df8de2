#include "conformance/recording.h"

#include "validate/evaluate_equal.h"
#include "validate/reader.h"

namespace sluice::test {
namespace {

bool SameJson(const Recording& a, const validate::Node* a_node, const std::string& b_text) {
  const Recording b(b_text);
  validate::ValueEquality equality;
  return b.ok() && equality.Equal(a.document(), a_node, b.document(), b.root());
}

}  // namespace

Recording::Recording(std::string text) : text_(std::move(text)) {
  const std::size_t length = text_.size();
  text_.append(validate::kReadPadding, ' ');
  validate::Reader reader;
  validate::ReadOptions options;
  options.max_depth = 2000;
  ok_ = reader.Read(std::string_view(text_).substr(0, length), options, document_).has_value();
}

const validate::Node* Recording::Find(const validate::Node* object, std::string_view key) const {
  return document_.Find(object, key);
}

std::string Recording::String(const validate::Node* object, std::string_view key) const {
  const validate::Node* node = Find(object, key);
  return node == nullptr ? std::string() : std::string(document_.String(*node));
}

std::string Difference(const Recording& recording, const validate::Node* wanted,
                       const Outcome& outcome) {
  const std::string after = recording.String(wanted, "after");
  if (after.empty() != outcome.after.empty()) return "whether defaults changed it";
  if (!after.empty()) {
    const Recording other(after);
    if (!other.ok() || !SameJson(other, other.root(), outcome.after)) return "after defaults";
  }
  if (recording.Find(wanted, "valid")->kind() == validate::Kind::kTrue) {
    return outcome.status == Outcome::Status::kValid ? "" : "status";
  }
  if (outcome.status != Outcome::Status::kInvalid) return "status";
  if (!SameJson(recording, recording.Find(wanted, "errors"), outcome.errors_json)) return "errors";
  return recording.String(wanted, "errorsText") == outcome.errors_text ? "" : "errorsText";
}

}  // namespace sluice::test
