#pragma once

#include <string>
#include <string_view>

namespace sluice::daemon {

inline constexpr std::string_view kMasked = "***";

// Whether an entry of that name (of librdkafka's settings, of request headers) is not for showing.
bool IsSecretName(std::string_view name);

// The text with the user and password of a URI masked.
std::string MaskUserInfo(std::string_view text);

}  // namespace sluice::daemon
