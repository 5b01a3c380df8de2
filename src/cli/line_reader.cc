#include "cli/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "validate/reader.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kReadBytes = 256u << 10;

}  // namespace

LineReader::LineReader(int descriptor, std::function<void()> before_read)
    : descriptor_(descriptor), before_read_(std::move(before_read)) {}

bool LineReader::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  // A long line doubles the buffer, so that moving it costs no more than reading it.
  const std::size_t wanted = end_ + std::max(kReadBytes, end_) + validate::kReadPadding;
  if (buffer_.size() < end_ + kReadBytes + validate::kReadPadding) buffer_.resize(wanted);
  before_read_();
  ssize_t got = 0;
  do {
    got =
        ::read(descriptor_, buffer_.data() + end_, buffer_.size() - validate::kReadPadding - end_);
  } while (got < 0 && errno == EINTR);
  if (got < 0) error_ = errno;
  if (got <= 0) {
    at_end_ = true;
    return false;
  }
  end_ += static_cast<std::size_t>(got);
  return true;
}

bool LineReader::Next(std::string_view& line) {
  for (;;) {
    const void* found =
        scanned_ < end_ ? std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_) : nullptr;
    std::size_t line_end = end_;
    std::size_t next = end_;
    if (found != nullptr) {
      line_end = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      next = line_end + 1;
    } else {
      scanned_ = end_;
      if (!at_end_ && Fill()) continue;
      if (error_ != 0 || begin_ == end_) return false;
      line_end = next = end_;  // the last line, without a line feed
    }
    const std::size_t line_begin = begin_;
    begin_ = scanned_ = next;
    if (found != nullptr && line_end > line_begin && buffer_[line_end - 1] == '\r') --line_end;
    line = std::string_view(buffer_).substr(line_begin, line_end - line_begin);
    return true;
  }
}

}  // namespace sluice::cli
