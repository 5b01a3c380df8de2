#include "intake/listen_error.h"

namespace sluice::intake {

std::string AddressAndPort(std::string_view host, std::uint16_t port) {
  std::string out(host);
  if (host.find(':') != std::string_view::npos) out = "[" + out + "]";
  return out + ":" + std::to_string(port);
}

core::Error ListenError(std::string_view interface_key, std::string_view port_key,
                        std::string_view host, std::uint16_t port, std::string_view reason) {
  return {core::ErrorCode::kInternal,
          "Cannot listen on " + AddressAndPort(host, port) + ": " + std::string(reason) +
              ". Stop what uses the port, or change '" + std::string(interface_key) + "' or '" +
              std::string(port_key) + "'."};
}

}  // namespace sluice::intake
