#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sluice::cli {

// Reads lines of any length from a file descriptor. A line has no line feed at its end, nor the
// carriage return before one, and validate::kReadPadding readable bytes behind it.
class LineReader {
 public:
  // `before_read` is called before each read, which may block: the moment to show what there is to
  // show.
  LineReader(int descriptor, std::function<void()> before_read);

  // The next line, valid until the next call; false at the end, or on an error, which error() then
  // tells.
  bool Next(std::string_view& line);

  int error() const { return error_; }  // errno, or 0

 private:
  bool Fill();

  int descriptor_;
  std::function<void()> before_read_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of what was not returned yet
  std::size_t end_ = 0;      // of what was read
  std::size_t scanned_ = 0;  // up to here there is no line feed
  bool at_end_ = false;
  int error_ = 0;
};

}  // namespace sluice::cli
