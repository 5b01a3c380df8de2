#include "intake/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstdint>

namespace sluice::intake {
namespace {

namespace asio = boost::asio;

// OpenSSL's own way to a socket uses write(), which raises SIGPIPE where the peer has gone.
int SocketOf(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int WriteTo(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(SocketOf(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int ReadFrom(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(SocketOf(bio), data, static_cast<std::size_t>(size), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int Create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sluice socket");
    BIO_meth_set_write(made, WriteTo);
    BIO_meth_set_read(made, ReadFrom);
    BIO_meth_set_ctrl(made, Control);
    BIO_meth_set_create(made, Create);
    return made;
  }();
  return method;
}

}  // namespace

void TlsSession::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

TlsSession::TlsSession(const TlsContext& context, int socket) : ssl_(SSL_new(context.ctx.get())) {
  if (!ssl_) return;
  BIO* bio = BIO_new(SocketMethod());
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_accept_state(ssl_.get());
}

TlsProgress TlsSession::After(int result, std::size_t bytes) {
  if (result == 1) return {TlsProgress::Wants::kNothing, {}, bytes};
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {TlsProgress::Wants::kRead, {}, 0};
    case SSL_ERROR_WANT_WRITE:
      return {TlsProgress::Wants::kWrite, {}, 0};
    case SSL_ERROR_ZERO_RETURN:
      return {TlsProgress::Wants::kNothing, asio::error::eof, 0};
    default:
      return {TlsProgress::Wants::kNothing, asio::error::connection_reset, 0};
  }
}

// The error queue is the thread's: what another connection left there must not be taken for this
// one's.
TlsProgress TlsSession::Handshake() {
  if (!ssl_) return {TlsProgress::Wants::kNothing, asio::error::no_memory, 0};
  ERR_clear_error();
  const TlsProgress progress = After(SSL_do_handshake(ssl_.get()), 0);
  if (progress.ec) TellFailure();
  return progress;
}

TlsProgress TlsSession::Read(void* data, std::size_t size) {
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(ssl_.get(), data, size, &bytes);
  return After(result, bytes);
}

TlsProgress TlsSession::Write(const void* data, std::size_t size) {
  if (size == 0) return {};
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_write_ex(ssl_.get(), data, size, &bytes);
  return After(result, bytes);
}

void TlsSession::SayClose() {
  if (!ssl_ || SSL_is_init_finished(ssl_.get()) == 0) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

void TlsSession::TellFailure() {
  const unsigned long code = ERR_peek_last_error();
  const int reason = ERR_GET_REASON(code);
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  failure_text_ = text != nullptr ? text : "the connection ended";
  if (reason == SSL_R_HTTP_REQUEST) failure_ = Failure::kPlainHttp;
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) failure_ = Failure::kClientCertificate;
  if (const long verified = SSL_get_verify_result(ssl_.get()); verified != X509_V_OK) {
    failure_ = Failure::kClientCertificate;
    failure_text_ += verified == X509_V_ERR_APPLICATION_VERIFICATION
                         ? ": none of its names is allowed"
                         : std::string(": ") + X509_verify_cert_error_string(verified);
  }
  ERR_clear_error();
}

}  // namespace sluice::intake
