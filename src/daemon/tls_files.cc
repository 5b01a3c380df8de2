#include "daemon/tls_files.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "intake/tls_context.h"

namespace sluice::daemon {
namespace {

bool IsGiven(const core::TlsOptions& tls) {
  return tls.enabled() || !tls.key.empty() || !tls.client_ca.empty() || !tls.allowed_names.empty();
}

void Check(const core::TlsOptions& tls, std::string_view section, ConfigReading& reading) {
  if (!IsGiven(tls)) return;
  intake::TlsReading found = intake::LoadTls(tls, section, std::chrono::system_clock::now());
  if (found.context) return;
  const auto place = reading.places.find(found.key);
  reading.problems.push_back({place == reading.places.end() ? std::string() : place->second,
                              std::move(found.key), std::move(found.text)});
}

}  // namespace

void CheckTlsFiles(ConfigReading& reading) {
  Check(reading.config.http.tls, "tls.", reading);
  Check(reading.config.http.admin_tls, "admin.tls.", reading);
}

}  // namespace sluice::daemon
