#include "daemon/secret_values.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sluice::daemon {

bool IsSecretName(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kParts = {
      "password",           "secret", "token", "authorization", "cookie", "jaas",
      "oauthbearer.config", "key.pem"};
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

std::string MaskUserInfo(std::string_view text) {
  std::string masked(text);
  const std::size_t scheme_end = masked.find("://");
  if (scheme_end == std::string::npos) return masked;
  const std::size_t begin = scheme_end + 3;
  const std::size_t authority_end = std::min(masked.find_first_of("/?#", begin), masked.size());
  const std::size_t at = masked.rfind('@', authority_end);
  if (at == std::string::npos || at < begin) return masked;
  return masked.replace(begin, at - begin, kMasked);
}

}  // namespace sluice::daemon
