#include "intake/address_set.h"

#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <cstring>

namespace sluice::intake {
namespace {

bool SharesPrefix(const unsigned char* a, const unsigned char* b, int bits) {
  const int bytes = bits / 8;
  if (std::memcmp(a, b, static_cast<std::size_t>(bytes)) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || ((a[bytes] ^ b[bytes]) >> (8 - rest)) == 0;
}

}  // namespace

bool AddressSet::ParseAddress(std::string_view text, Bytes& bytes) {
  boost::system::error_code ec;
  const auto address = boost::asio::ip::make_address(text, ec);
  if (ec) return false;
  bytes =
      address.is_v4()
          ? boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, address.to_v4()).to_bytes()
          : address.to_v6().to_bytes();
  return true;
}

core::Result<AddressSet> AddressSet::Parse(const std::vector<std::string>& networks) {
  AddressSet set;
  for (const std::string& entry : networks) {
    const std::size_t slash = entry.find('/');
    Network network{};
    const std::string_view address = std::string_view(entry).substr(0, slash);
    const bool v4 = address.find(':') == std::string_view::npos;
    const int width = v4 ? 32 : 128;
    int bits = width;
    bool good = ParseAddress(address, network.prefix);
    if (good && slash != std::string::npos) {
      const char* end = entry.data() + entry.size();
      const auto [ptr, ec] = std::from_chars(entry.data() + slash + 1, end, bits);
      good = ec == std::errc() && ptr == end && bits >= 0 && bits <= width;
    }
    if (!good) {
      return core::Error{core::ErrorCode::kInternal,
                         "'" + entry + "' is no address or network such as 10.0.0.0/8."};
    }
    network.bits = v4 ? bits + 96 : bits;
    set.networks_.push_back(network);
  }
  return set;
}

bool AddressSet::Contains(std::string_view address) const {
  if (networks_.empty()) return false;
  Bytes bytes;
  if (!ParseAddress(address, bytes)) return false;
  for (const Network& network : networks_) {
    if (SharesPrefix(bytes.data(), network.prefix.data(), network.bits)) return true;
  }
  return false;
}

}  // namespace sluice::intake
