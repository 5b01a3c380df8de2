#include "cli/explain_changes.h"

#include "validate/reader.h"

namespace sluice::cli {
namespace {

using validate::Document;
using validate::Kind;
using validate::Node;

// A text that a Reader may parse, and what it became.
class Parsed {
 public:
  explicit Parsed(std::string_view text) : text_(text) {
    text_.resize(text.size() + validate::kReadPadding);
    validate::ReadOptions options;
    options.max_depth = 100'000;
    good_ = reader_.Read(std::string_view(text_).substr(0, text.size()), options, document_)
                .has_value();
  }

  bool good() const { return good_; }
  const Document& document() const { return document_; }
  const Node* root() const { return document_.nodes.data(); }

 private:
  std::string text_;
  validate::Reader reader_;
  Document document_;
  bool good_ = false;
};

class Comparison {
 public:
  Comparison(const Document& before, const Document& after) : before_(before), after_(after) {}

  // `old` is null where there was nothing.
  void Compare(const std::string& path, const Node* old, const Node* now) {
    if (now->kind() == Kind::kObject && now->inside > 0 &&
        (old == nullptr || old->kind() == Kind::kObject)) {
      return CompareMembers(path, old, now);
    }
    if (now->kind() == Kind::kArray && old != nullptr && old->kind() == Kind::kArray) {
      return CompareElements(path, old, now);
    }
    const std::string_view text = after_.Text(*now);
    if (old == nullptr) {
      changes_.push_back({path, std::string(text), {}, {}});
    } else if (!old->is_container() && before_.Text(*old) != text) {
      changes_.push_back({path, std::string(text), std::string(before_.Text(*old)), {}});
    }
  }

  std::vector<Change> Take() { return std::move(changes_); }

 private:
  void CompareMembers(const std::string& path, const Node* old, const Node* now) {
    const Node* const end = now + now->nodes();
    for (const Node* key = now + 1; key < end; key += 1 + key[1].nodes()) {
      const std::string name(after_.String(*key));
      const Node* const was = old == nullptr ? nullptr : before_.Find(old, name);
      Compare(path.empty() ? name : path + '.' + name, was, key + 1);
    }
  }

  void CompareElements(const std::string& path, const Node* old, const Node* now) {
    const Node* was = old + 1;
    const Node* const was_end = old + old->nodes();
    const Node* const end = now + now->nodes();
    int index = 0;
    for (const Node* element = now + 1; element < end; element += element->nodes()) {
      Compare(path + '[' + std::to_string(index++) + ']', was < was_end ? was : nullptr, element);
      if (was < was_end) was += was->nodes();
    }
  }

  const Document& before_;
  const Document& after_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> ChangesBetween(std::string_view before, std::string_view after) {
  const Parsed old(before);
  const Parsed now(after);
  if (!old.good() || !now.good()) return {};
  Comparison comparison(old.document(), now.document());
  comparison.Compare({}, old.root(), now.root());
  return comparison.Take();
}

}  // namespace sluice::cli
