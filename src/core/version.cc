#include "core/version.h"

namespace sluice::core {

// Alone in this file: the linker takes it only for a program that does not define it.
constinit const std::string_view kVersion = SLUICE_PROJECT_VERSION;

}  // namespace sluice::core
