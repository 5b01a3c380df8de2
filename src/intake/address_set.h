#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace sluice::intake {

// Networks as an operator lists them ("10.0.0.0/8", "2001:db8::/32", "192.0.2.7"). Immutable once
// parsed; any thread.
class AddressSet {
 public:
  // Fails with the entry that is no address or network.
  static core::Result<AddressSet> Parse(const std::vector<std::string>& networks);

  // Whether the address, as text without port or zone, is in one of the networks. IPv4-mapped IPv6
  // counts as IPv4.
  bool Contains(std::string_view address) const;
  bool empty() const { return networks_.empty(); }

 private:
  using Bytes = std::array<unsigned char, 16>;  // IPv4 as ::ffff:a.b.c.d
  struct Network {
    Bytes prefix;
    int bits;
  };
  static bool ParseAddress(std::string_view text, Bytes& bytes);
  std::vector<Network> networks_;
};

}  // namespace sluice::intake
