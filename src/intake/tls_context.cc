#include "intake/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "core/free_with.h"
#include "intake/text.h"

namespace sluice::intake {
namespace {

// Mozilla's "intermediate" without the ciphers that need parameters for Diffie-Hellman: all have
// forward secrecy and authenticate what they encrypt.
constexpr const char* kCiphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* kGroups = "X25519:P-256:P-384";
constexpr std::string_view kProtocol = "http/1.1";
constexpr std::string_view kOldProtocol = "http/1.0";
constexpr std::string_view kCredentials = "${CREDENTIALS_DIRECTORY}";
constexpr long kTicketSeconds = 3600;

using Certificate = std::unique_ptr<X509, core::FreeWith<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, core::FreeWith<EVP_PKEY_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, core::FreeWith<GENERAL_NAMES_free>>;
using File = std::unique_ptr<std::FILE, core::FreeWith<std::fclose>>;

struct Fault {
  std::string key;
  std::string text;
};

std::string OpenSslReason() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason != nullptr ? reason : "it gives no reason";
}

std::string DateOf(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::time_t TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0;
}

// Instead of asking on the terminal.
int NoPassphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

void FreeAllowedNames(void*, void* names, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<std::vector<std::string>*>(names);
}

// Where a context keeps the names of clients that it lets in: it lives as long as its connections.
int AllowedNamesIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeAllowedNames);
  return index;
}

bool IsAllowed(std::string_view name, const std::vector<std::string>& allowed) {
  for (const std::string& one : allowed) {
    if (EqualsIgnoringCase(name, one)) return true;
  }
  return false;
}

std::string_view TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

bool HasAllowedName(X509* certificate, const std::vector<std::string>& allowed) {
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS && IsAllowed(TextOf(name->d.dNSName), allowed)) return true;
    if (name->type == GEN_URI && IsAllowed(TextOf(name->d.uniformResourceIdentifier), allowed)) {
      return true;
    }
  }
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return false;
  return IsAllowed(TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))), allowed);
}

int VerifyClient(int is_good, X509_STORE_CTX* store) {
  if (is_good != 1 || X509_STORE_CTX_get_error_depth(store) != 0) return is_good;
  const auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* allowed = static_cast<const std::vector<std::string>*>(
      SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), AllowedNamesIndex()));
  if (allowed == nullptr || HasAllowedName(X509_STORE_CTX_get_current_cert(store), *allowed)) {
    return 1;
  }
  X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

// A client that says what it speaks must speak HTTP/1.
int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* in, unsigned in_size, void*) {
  for (unsigned at = 0; at < in_size; at += 1u + in[at]) {
    const std::string_view name(reinterpret_cast<const char*>(in + at + 1), in[at]);
    if (name != kProtocol && name != kOldProtocol) continue;
    *out = in + at + 1;
    *out_size = in[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Reads one listener's files; stops at the first fault.
class Loader {
 public:
  Loader(const core::TlsOptions& options, std::string_view section, std::time_t now)
      : options_(options), section_(section), now_(now) {}

  bool Run() {
    return CheckKeys() && MakeContext() && ReadCertificate() && ReadKey() && ReadClientCa();
  }

  std::shared_ptr<SSL_CTX> ctx;
  std::time_t expires = 0;
  Fault fault;

 private:
  bool Blame(std::string_view key, std::string text) {
    fault = {section_ + std::string(key), std::move(text)};
    ERR_clear_error();
    return false;
  }

  bool CheckKeys() {
    if (options_.certificate.empty()) {
      return Blame("certificate", "is missing: name the PEM file of the certificate, or leave '" +
                                      section_ + "key' out too");
    }
    if (options_.key.empty()) {
      return Blame("key",
                   "is missing: name the PEM file of the key of '" + section_ + "certificate'");
    }
    if (!options_.allowed_names.empty() && options_.client_ca.empty()) {
      return Blame("allowed_names",
                   "is about certificates of clients, which nobody asks for: name the PEM file of "
                   "those who sign them as '" +
                       section_ + "client_ca'");
    }
    return true;
  }

  bool MakeContext() {
    ctx.reset(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX* const c = ctx.get();
    const int version =
        options_.min_version == core::TlsVersion::kTls13 ? TLS1_3_VERSION : TLS1_2_VERSION;
    if (c == nullptr || SSL_CTX_set_min_proto_version(c, version) != 1 ||
        SSL_CTX_set_cipher_list(c, kCiphers) != 1 || SSL_CTX_set1_groups_list(c, kGroups) != 1) {
      return Blame("certificate", "is no use: OpenSSL cannot be set up (" + OpenSslReason() + ")");
    }
    SSL_CTX_set_options(
        c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(c, 1);
    // Tickets only, which cost no memory; their keys end with this context.
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(c, 1);
    SSL_CTX_set_timeout(c, kTicketSeconds);
    SSL_CTX_set_session_id_context(c, reinterpret_cast<const unsigned char*>("sluice"), 6);
    SSL_CTX_set_alpn_select_cb(c, ChooseProtocol, nullptr);
    return true;
  }

  File Open(std::string_view key, const std::string& path) {
    File file(std::fopen(TlsFile(path).c_str(), "re"));
    if (!file) {
      Blame(key, "is " + path + ", which cannot be read: " + std::strerror(errno) +
                     "; see that the path is right and that this user may read it");
    }
    return file;
  }

  // All certificates of a file, the first one first; none if it cannot be read or has none.
  std::vector<Certificate> ReadCertificates(std::string_view key, const std::string& path) {
    std::vector<Certificate> certificates;
    const File file = Open(key, path);
    if (!file) return certificates;
    while (Certificate one{PEM_read_X509(file.get(), nullptr, nullptr, nullptr)}) {
      certificates.push_back(std::move(one));
    }
    const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (certificates.empty() || !at_end) {
      const std::string why =
          at_end ? "has no certificate in PEM form" : "is damaged (" + OpenSslReason() + ")";
      Blame(key, "is " + path + ", which " + why + "; put a whole one there");
      certificates.clear();
    }
    ERR_clear_error();
    return certificates;
  }

  bool ReadCertificate() {
    certificates_ = ReadCertificates("certificate", options_.certificate);
    if (certificates_.empty()) return false;
    X509* const own = certificates_.front().get();
    expires = TimeOf(X509_get0_notAfter(own));
    const std::time_t begins = TimeOf(X509_get0_notBefore(own));
    const std::string what = "is " + options_.certificate + ", a certificate that ";
    if (expires <= now_) {
      return Blame("certificate",
                   what + "expired on " + DateOf(expires) + "; put a renewed one there");
    }
    if (begins > now_) {
      return Blame("certificate", what + "is not valid before " + DateOf(begins) +
                                      "; put another there, or set this host's clock right");
    }
    if (SSL_CTX_use_certificate(ctx.get(), own) != 1) {
      return Blame("certificate", what + "OpenSSL refuses: " + OpenSslReason());
    }
    for (std::size_t i = 1; i < certificates_.size(); ++i) {
      if (SSL_CTX_add1_chain_cert(ctx.get(), certificates_[i].get()) != 1) {
        return Blame("certificate", "is " + options_.certificate +
                                        ", whose chain OpenSSL refuses: " + OpenSslReason());
      }
    }
    return true;
  }

  bool ReadKey() {
    const File file = Open("key", options_.key);
    if (!file) return false;
    bool has_passphrase = false;
    const PrivateKey key(PEM_read_PrivateKey(file.get(), nullptr, NoPassphrase, &has_passphrase));
    const std::string what = "is " + options_.key + ", which ";
    if (has_passphrase) {
      return Blame("key", what +
                              "has a passphrase; put the key there without one, readable for "
                              "this user alone");
    }
    if (!key) return Blame("key", what + "has no private key in PEM form; put one there");
    if (X509_check_private_key(certificates_.front().get(), key.get()) != 1) {
      return Blame("key", what + "is not the key of the certificate in " + options_.certificate +
                              " ('" + section_ + "certificate'); put the two of one pair there");
    }
    if (SSL_CTX_use_PrivateKey(ctx.get(), key.get()) != 1) {
      return Blame("key", what + "OpenSSL refuses: " + OpenSslReason());
    }
    return true;
  }

  bool ReadClientCa() {
    if (options_.client_ca.empty()) return true;
    const auto signers = ReadCertificates("client_ca", options_.client_ca);
    if (signers.empty()) return false;
    X509_STORE* const store = SSL_CTX_get_cert_store(ctx.get());
    for (const Certificate& signer : signers) {
      X509_STORE_add_cert(store, signer.get());
      SSL_CTX_add_client_CA(ctx.get(), signer.get());
    }
    SSL_CTX_set_verify(ctx.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, VerifyClient);
    if (!options_.allowed_names.empty()) {
      auto names = std::make_unique<std::vector<std::string>>(options_.allowed_names);
      if (SSL_CTX_set_ex_data(ctx.get(), AllowedNamesIndex(), names.get()) == 1) {
        static_cast<void>(names.release());
      } else {
        return Blame("allowed_names", "cannot be kept: no memory");
      }
    }
    return true;
  }

  const core::TlsOptions& options_;
  const std::string section_;
  const std::time_t now_;
  std::vector<Certificate> certificates_;
};

}  // namespace

std::string TlsFile(std::string_view path) {
  const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr || !path.starts_with(kCredentials)) return std::string(path);
  return folder + std::string(path.substr(kCredentials.size()));
}

TlsReading LoadTls(const core::TlsOptions& options, std::string_view section,
                   std::chrono::system_clock::time_point now) {
  ERR_clear_error();
  Loader loader(options, section, std::chrono::system_clock::to_time_t(now));
  if (!loader.Run()) return {nullptr, loader.fault.key, loader.fault.text};
  auto context = std::make_shared<TlsContext>();
  context->ctx = std::move(loader.ctx);
  context->expires = std::chrono::system_clock::from_time_t(loader.expires);
  return {std::move(context), {}, {}};
}

}  // namespace sluice::intake
