#pragma once

#include <doctest/doctest.h>
#include <stdio.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace sluice::cli {

// A descriptor of this process turned into a file while it lives.
class Captured {
 public:
  explicit Captured(int descriptor)
      : descriptor_(descriptor), file_(tmpfile()), saved_(dup(descriptor)) {
    Flush();
    dup2(fileno(file_), descriptor_);
  }
  ~Captured() { fclose(file_); }
  std::string End() {
    Flush();
    dup2(saved_, descriptor_);
    close(saved_);
    std::string text(static_cast<std::size_t>(lseek(fileno(file_), 0, SEEK_END)), '\0');
    const ssize_t got = pread(fileno(file_), text.data(), text.size(), 0);
    REQUIRE(got == static_cast<ssize_t>(text.size()));
    return text;
  }

 private:
  static void Flush() {
    fflush(stdout);
    fflush(stderr);
  }
  int descriptor_;
  FILE* file_;
  int saved_;
};

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

inline Outcome RunCaptured(const std::vector<std::string>& words) {
  Captured out(STDOUT_FILENO);
  Captured err(STDERR_FILENO);
  Outcome outcome;
  outcome.code = Run(words);
  outcome.err = err.End();
  outcome.out = out.End();
  return outcome;
}

inline bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace sluice::cli
