#pragma once

#include <cstdio>
#include <string>

namespace sluice::cli {

// Writes to stdout or stderr.
void Print(std::FILE* stream, const std::string& text);

// Says on stderr what is wrong.
void Complain(const std::string& message);

// Says on stderr what is wrong with how the program was called; returns the exit code for it.
int Misused(const std::string& message);

}  // namespace sluice::cli
