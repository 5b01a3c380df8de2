#pragma once

#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "intake/tls_context.h"

struct ssl_st;

namespace sluice::intake {

// How far a step of TLS came without blocking.
struct TlsProgress {
  enum class Wants : std::uint8_t {
    kNothing,  // it is done: see `ec` and `bytes`
    kRead,     // repeat it once the socket can be read
    kWrite,    // ... can be written
  };
  Wants wants = Wants::kNothing;
  boost::system::error_code ec;
  std::size_t bytes = 0;
};

// The server's side of TLS over a socket that does not block, which it does not own. Not
// thread-safe.
class TlsSession {
 public:
  // What is written is taken up to this much at a time: one record.
  static constexpr std::size_t kRecordBytes = 16384;

  TlsSession(const TlsContext& context, int socket);

  TlsProgress Handshake();
  // eof at the end of what the peer sends, said or not.
  TlsProgress Read(void* data, std::size_t size);
  // A write that wants something has to be repeated with the same bytes, wherever they are then.
  TlsProgress Write(const void* data, std::size_t size);
  // Tells the peer, if there is room for that, that nothing more will be written. Reading goes on.
  void SayClose();

  // After a handshake that failed.
  enum class Failure : std::uint8_t { kClientCertificate, kPlainHttp, kOther };
  Failure failure() const { return failure_; }
  const std::string& failure_text() const { return failure_text_; }

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  TlsProgress After(int result, std::size_t bytes);
  void TellFailure();

  std::unique_ptr<ssl_st, Free> ssl_;
  Failure failure_ = Failure::kOther;
  std::string failure_text_;
};

}  // namespace sluice::intake
