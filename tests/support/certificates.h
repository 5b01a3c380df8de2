#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace sluice::test {

// Who signs certificates, and what was signed: made for a test, with keys of elliptic curves since
// they cost no time.
class TestCertificate {
 public:
  struct Wish {
    std::string common_name = "localhost";
    std::string alt_names = "DNS:localhost";  // as openssl.cnf has them
    long begins = -60;                        // seconds from now
    long expires = 3600;
    bool is_signer = false;
  };

  // Signed by itself, or by `signer`.
  explicit TestCertificate(const Wish& wish, const TestCertificate* signer = nullptr)
      : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
    static long serial = 1;
    X509* const c = certificate_.get();
    X509_set_version(c, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(c), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(c), wish.begins);
    X509_gmtime_adj(X509_getm_notAfter(c), wish.expires);
    X509_set_pubkey(c, key_.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(wish.common_name.c_str()), -1,
                               -1, 0);
    X509* const issuer = signer != nullptr ? signer->certificate_.get() : c;
    X509_set_issuer_name(c, X509_get_subject_name(issuer));
    if (wish.is_signer) Add(NID_basic_constraints, "critical,CA:TRUE");
    if (!wish.alt_names.empty()) Add(NID_subject_alt_name, wish.alt_names.c_str());
    EVP_PKEY* const signing = signer != nullptr ? signer->key_.get() : key_.get();
    if (X509_sign(c, signing, EVP_sha256()) == 0) throw std::runtime_error("X509_sign");
  }

  void WriteCertificate(const std::filesystem::path& path) const {
    const File file(std::fopen(path.c_str(), "w"), std::fclose);
    PEM_write_X509(file.get(), certificate_.get());
  }
  // With a passphrase, if one is given.
  void WriteKey(const std::filesystem::path& path, const char* passphrase = nullptr) const {
    const File file(std::fopen(path.c_str(), "w"), std::fclose);
    PEM_write_PrivateKey(file.get(), key_.get(),
                         passphrase != nullptr ? EVP_aes_256_cbc() : nullptr, nullptr, 0, nullptr,
                         const_cast<char*>(passphrase));
  }

 private:
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

  void Add(int nid, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
    if (extension == nullptr) throw std::runtime_error("X509V3_EXT_conf_nid");
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
  std::unique_ptr<X509, void (*)(X509*)> certificate_;
};

}  // namespace sluice::test
