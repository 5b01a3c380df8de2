#pragma once

#include <array>
#include <string_view>

#include "intake/ingest.h"

namespace sluice::intake {

// An address as limits count it: IPv4 as ::ffff:a.b.c.d, IPv6 as its network of 64 bits, since one
// client has all addresses of such a network. All zero: none.
using AddressKey = std::array<unsigned char, 16>;

// All zero for a text that is no address.
AddressKey AddressKeyOf(std::string_view address);

// Whose request it is: the peer, or, if that is a trusted proxy, the address that it names in
// x-client-ip, else the first one in x-forwarded-for. As sent; empty for a peer without an address
// (a unix socket) that names none. `headers` may be null.
std::string_view ClientAddress(const HeaderSource* headers, std::string_view peer_address,
                               bool peer_is_trusted);

}  // namespace sluice::intake
