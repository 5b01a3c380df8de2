#pragma once

#include <cstring>
#include <memory>
#include <string_view>

namespace sluice::test {

// A text in a block of exactly its size and the padding that the reader asks for, so that a
// sanitizer sees a read beyond.
class Padded {
 public:
  explicit Padded(std::string_view text)
      : bytes_(std::make_unique<char[]>(text.size() + 64)), size_(text.size()) {
    std::memcpy(bytes_.get(), text.data(), size_);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

}  // namespace sluice::test
