#include "intake/admin_stream.h"

#include <utility>

namespace sluice::intake {

AdminStream::Pushed AdminStream::Push(std::string chunk) {
  std::function<void()> wake;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return Pushed::kClosed;
    if (buffered_.size() + chunk.size() > max_buffered_bytes_) {
      ++dropped_;
      return Pushed::kDropped;
    }
    if (buffered_.empty()) wake = wake_;  // else the connection was woken and has not taken yet
    buffered_ += chunk;
  }
  if (wake) wake();
  return Pushed::kTaken;
}

void AdminStream::Close() {
  std::function<void()> wake;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    wake = wake_;
  }
  if (wake) wake();
}

bool AdminStream::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

std::uint64_t AdminStream::dropped() const {
  std::lock_guard lock(mutex_);
  return dropped_;
}

void AdminStream::Attach(std::function<void()> wake) {
  {
    std::lock_guard lock(mutex_);
    wake_ = wake;
    if (buffered_.empty() && !closed_) return;
  }
  wake();
}

AdminStream::Taken AdminStream::Take() {
  std::lock_guard lock(mutex_);
  return {std::exchange(buffered_, {}), closed_};
}

void AdminStream::Abandon() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  wake_ = nullptr;
  buffered_.clear();
}

}  // namespace sluice::intake
