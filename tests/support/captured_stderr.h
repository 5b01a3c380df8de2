#pragma once

#include <doctest/doctest.h>
#include <stdio.h>
#include <unistd.h>

#include <string>

namespace sluice::test {

// What is written to stderr while it lives.
class CapturedStderr {
 public:
  CapturedStderr() : file_(tmpfile()), saved_(dup(STDERR_FILENO)) {
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~CapturedStderr() {
    Restore();
    fclose(file_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  // All of it; ends the capture.
  std::string Text() {
    Restore();
    std::string text(static_cast<std::size_t>(lseek(fileno(file_), 0, SEEK_END)), '\0');
    const ssize_t got = pread(fileno(file_), text.data(), text.size(), 0);
    REQUIRE(got == static_cast<ssize_t>(text.size()));
    return text;
  }

 private:
  void Restore() {
    if (saved_ < 0) return;
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    saved_ = -1;
  }
  FILE* file_;
  int saved_;
};

}  // namespace sluice::test
