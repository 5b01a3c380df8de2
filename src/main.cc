#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_code.h"

int main(int argc, char** argv) {
  try {
    return sluice::cli::Run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice: internal error: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "sluice: internal error\n");
  }
  return sluice::cli::kInternal;
}
