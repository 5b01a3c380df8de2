#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "core/config.h"

struct ssl_ctx_st;

namespace sluice::intake {

// Certificate, key and rules that new connections of a listener get. Immutable; any thread.
// Connections keep what they were made with.
struct TlsContext {
  std::shared_ptr<ssl_ctx_st> ctx;
  std::chrono::system_clock::time_point expires;  // of the certificate
};
using TlsContextPtr = std::shared_ptr<const TlsContext>;

// The file that a key names: ${CREDENTIALS_DIRECTORY} at its beginning is systemd's folder of
// credentials.
std::string TlsFile(std::string_view path);

// The result of LoadTls: a context, or the key that is to blame and what about it, to be read after
// the key ("is /etc/a.pem, which cannot be read: Permission denied; …").
struct TlsReading {
  TlsContextPtr context;
  std::string key;
  std::string text;

  // One sentence.
  std::string Problem() const { return "'" + key + "' " + text + "."; }
};

// Reads and checks the files of `options`, whose keys begin with `section` ("tls."). TLS 1.2 and
// 1.3 (or 1.3 alone) with Mozilla's intermediate ciphers, no renegotiation, no compression, ALPN
// http/1.1. With a client_ca a client must show a certificate of it, with one of allowed_names if
// there are any (a DNS or URI name, or the common name); the handshake fails else. Blocks on files.
TlsReading LoadTls(const core::TlsOptions& options, std::string_view section,
                   std::chrono::system_clock::time_point now);

}  // namespace sluice::intake
