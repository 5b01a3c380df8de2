#include "intake/client_address.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

namespace sluice::intake {
namespace {

constexpr std::size_t kClientBytes = 8;  // of an IPv6 address: its /64

}  // namespace

AddressKey AddressKeyOf(std::string_view text) {
  boost::system::error_code ec;
  const auto address = boost::asio::ip::make_address(text, ec);
  if (ec) return {};
  if (address.is_v4()) {
    return boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, address.to_v4()).to_bytes();
  }
  AddressKey key = address.to_v6().to_bytes();
  if (!address.to_v6().is_v4_mapped()) std::fill(key.begin() + kClientBytes, key.end(), 0);
  return key;
}

std::string_view ClientAddress(const HeaderSource* headers, std::string_view peer_address,
                               bool peer_is_trusted) {
  if (!peer_is_trusted || headers == nullptr) return peer_address;
  const std::string_view direct = headers->Header("x-client-ip");
  if (!direct.empty()) return direct;
  const std::string_view forwarded = headers->Header("x-forwarded-for");
  if (forwarded.empty()) return peer_address;
  const std::string_view first = forwarded.substr(0, forwarded.find(','));
  return first.substr(0, first.find_last_not_of(" \t") + 1);
}

}  // namespace sluice::intake
