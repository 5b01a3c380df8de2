#pragma once

#include <string_view>

namespace sluice::core {

// "0.1.0~git166.79794b8"; the program `sluice` has it from git (cmake/WriteVersion.cmake), every
// other program has what CMakeLists.txt says, so that a commit does not link all tests anew.
extern const std::string_view kVersion;

}  // namespace sluice::core
