#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::core {

// A UUID as text, for example "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed".
using UuidText = std::array<char, 36>;

inline std::string_view View(const UuidText& text) { return {text.data(), text.size()}; }

// Makes random UUIDs (version 4) without a system call each: xoshiro256** seeded from the kernel.
// Good for identity, not for secrets. One per thread; not thread-safe.
class UuidGenerator {
 public:
  UuidGenerator();

  UuidText Next();

 private:
  std::uint64_t NextBits();
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace sluice::core
