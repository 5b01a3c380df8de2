#include "intake/listen_error.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace sluice::intake {

std::string AddressAndPort(std::string_view host, std::uint16_t port) {
  std::string out(host);
  if (host.find(':') != std::string_view::npos) out = "[" + out + "]";
  return out + ":" + std::to_string(port);
}

boost::asio::ip::tcp::endpoint AdoptListening(int descriptor,
                                              boost::asio::ip::tcp::acceptor& acceptor,
                                              boost::system::error_code& ec) {
  using boost::asio::ip::tcp;
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (own < 0) {
    ec.assign(errno, boost::system::system_category());
    return {};
  }
  int family = AF_INET;
  socklen_t size = sizeof(family);
  ::getsockopt(own, SOL_SOCKET, SO_DOMAIN, &family, &size);
  acceptor.assign(family == AF_INET6 ? tcp::v6() : tcp::v4(), own, ec);
  if (ec) {
    ::close(own);
    return {};
  }
  return acceptor.local_endpoint(ec);
}

core::Error ListenError(std::string_view interface_key, std::string_view port_key,
                        std::string_view host, std::uint16_t port, std::string_view reason) {
  return {core::ErrorCode::kInternal,
          "Cannot listen on " + AddressAndPort(host, port) + ": " + std::string(reason) +
              ". Stop what uses the port, or change '" + std::string(interface_key) + "' or '" +
              std::string(port_key) + "'."};
}

}  // namespace sluice::intake
