#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "validate/document.h"

namespace sluice::validate {

// A dotted path ("meta.dt") whose steps' hashes are worked out once. Immutable, any thread.
class FieldPath {
 public:
  struct Step {
    std::string name;
    std::uint32_t hash;
  };

  FieldPath() = default;
  explicit FieldPath(std::string_view dotted) : text_(dotted) {
    if (dotted.empty()) return;
    while (true) {
      const std::size_t dot = dotted.find('.');
      const std::string_view name = dotted.substr(0, dot);
      steps_.push_back({std::string(name), HashKey(name)});
      if (dot == std::string_view::npos) break;
      dotted.remove_prefix(dot + 1);
    }
  }

  const std::string& text() const { return text_; }
  const std::vector<Step>& steps() const { return steps_; }
  bool empty() const { return steps_.empty(); }

  // The value at the path below `root`, or null if a step is missing or no object.
  const Node* Find(const Document& document, const Node* root) const {
    for (const Step& step : steps_) {
      if (root == nullptr) return nullptr;
      root = document.Find(root, step.name, step.hash);
    }
    return steps_.empty() ? nullptr : root;
  }

 private:
  std::string text_;
  std::vector<Step> steps_;
};

}  // namespace sluice::validate
