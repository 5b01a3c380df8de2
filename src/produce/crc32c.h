#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::produce {

// CRC-32C (Castagnoli) of `bytes`, continued from `seed`, the CRC of what came before; any thread.
// Finds every error of up to 32 bits in a row, and every flipped bit.
std::uint32_t Crc32c(std::string_view bytes, std::uint32_t seed = 0);

// The same without the processor's instruction, for tests.
std::uint32_t Crc32cPortable(std::string_view bytes, std::uint32_t seed = 0);

}  // namespace sluice::produce
