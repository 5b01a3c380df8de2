#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "validate/reader.h"

namespace sluice::intake {

// Bytes as they come from a socket or an inflater, with room for growth and validate::kReadPadding
// readable bytes behind the capacity, so that any part can be parsed in place. Growing moves the
// bytes: views into them end.
class ByteBuffer {
 public:
  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t spare() const { return capacity_ - size_; }
  char* end() { return bytes_.get() + size_; }
  std::string_view view() const { return {bytes_.get(), size_}; }

  // Makes room for `capacity` bytes in all; keeps what is there.
  void Reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity + validate::kReadPadding);
    if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    std::memset(bytes.get() + capacity, 0, validate::kReadPadding);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }
  void Append(std::string_view bytes) {
    if (bytes.size() > spare()) Reserve(std::max(size_ + bytes.size(), 2 * capacity_));
    if (!bytes.empty()) std::memcpy(end(), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void Grow(std::size_t bytes) { size_ += bytes; }  // that were written at end()
  // Forgets the first `bytes`; what is behind moves to the front.
  void DropFront(std::size_t bytes) {
    size_ -= bytes;
    if (size_ > 0 && bytes > 0) std::memmove(bytes_.get(), bytes_.get() + bytes, size_);
  }
  void Clear() { size_ = 0; }
  void Free() { *this = ByteBuffer(); }

  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept { *this = std::move(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace sluice::intake
