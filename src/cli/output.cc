#include "cli/output.h"

#include "cli/exit_code.h"

namespace sluice::cli {

void Print(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

void Complain(const std::string& message) { Print(stderr, "sluice: " + message + '\n'); }

int Misused(const std::string& message) {
  Print(stderr, "sluice: " + message + '\n');
  return kUsage;
}

}  // namespace sluice::cli
