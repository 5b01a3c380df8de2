#include "core/uuid.h"

#include <bit>
#include <random>

namespace sluice::core {

UuidGenerator::UuidGenerator() {
  std::random_device kernel;
  for (std::uint64_t& word : state_) {
    word = (static_cast<std::uint64_t>(kernel()) << 32) | kernel();
  }
  state_[0] |= 1;  // an all-zero state would stay zero
}

std::uint64_t UuidGenerator::NextBits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

UuidText UuidGenerator::Next() {
  static constexpr char kHex[] = "0123456789abcdef";
  const std::uint64_t high = (NextBits() & 0xffffffffffff0fffull) | 0x4000ull;
  const std::uint64_t low = (NextBits() & 0x3fffffffffffffffull) | 0x8000000000000000ull;
  UuidText text;
  std::size_t at = 0;
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) text[at++] = '-';
    const std::uint64_t half = digit < 16 ? high : low;
    text[at++] = kHex[(half >> (60 - 4 * (digit & 15))) & 15];
  }
  return text;
}

}  // namespace sluice::core
