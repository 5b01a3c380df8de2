#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace sluice::intake {

// "host:port", with brackets around an IPv6 address.
std::string AddressAndPort(std::string_view host, std::uint16_t port);

// One sentence about an address that cannot be listened on, naming the two settings.
core::Error ListenError(std::string_view interface_key, std::string_view port_key,
                        std::string_view host, std::uint16_t port, std::string_view reason);

// Makes `acceptor` one of a socket that listens already, of which it keeps a duplicate. The address
// it is bound to.
boost::asio::ip::tcp::endpoint AdoptListening(int descriptor,
                                              boost::asio::ip::tcp::acceptor& acceptor,
                                              boost::system::error_code& ec);

inline core::Error ListenError(std::string_view interface_key, std::string_view port_key,
                               std::string_view host, std::uint16_t port,
                               const boost::system::error_code& ec) {
  return ListenError(interface_key, port_key, host, port, ec.message());
}

}  // namespace sluice::intake
