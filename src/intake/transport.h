#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <optional>
#include <utility>

#include "intake/tls_session.h"

namespace sluice::intake {

// A TCP or unix socket without a type-erased executor: one virtual call less per operation.
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,
                                                boost::asio::io_context::executor_type>;

// A connection that is plain or speaks TLS, which each operation asks once. A stream as Asio and
// Beast know them, hence the names in their style. The socket does not block. Outlives its
// operations: Close ends them with operation_aborted. One thread.
class Transport {
 public:
  using executor_type = Socket::executor_type;
  using error_code = boost::system::error_code;

  // Without `tls`: plain.
  Transport(Socket socket, const TlsContextPtr& tls) : socket_(std::move(socket)) {
    boost::system::error_code ignored;
    socket_.non_blocking(true, ignored);
    if (tls) tls_.emplace(*tls, socket_.native_handle());
  }

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }
  bool is_tls() const { return tls_.has_value(); }
  bool is_open() const { return socket_.is_open(); }

  // Of TLS only, before anything else. `token` takes an error_code; what went wrong is tls()'s
  // failure().
  template <class Token>
  auto async_handshake(Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [this](auto handler) {
          auto done = [taken = std::move(handler)](error_code ec, std::size_t) mutable {
            taken(ec);
          };
          this->Run([](TlsSession& tls) { return tls.Handshake(); }, std::move(done));
        },
        token);
  }
  const TlsSession& tls() const { return *tls_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& into) {
          if (!tls_) return socket_.async_read_some(into, std::move(handler));
          const boost::asio::mutable_buffer first = FirstOf(into);
          Run([first](TlsSession& tls) { return tls.Read(first.data(), first.size()); },
              std::move(handler));
        },
        token, buffers);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          if (!tls_) return socket_.async_write_some(from, std::move(handler));
          Run([from](TlsSession& tls) { return WriteRecord(tls, from); }, std::move(handler));
        },
        token, buffers);
  }

  // What can be written at once; would_block if that is not all. The rest has to be written next.
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, error_code& ec) {
    if (!tls_) return socket_.write_some(buffers, ec);
    std::size_t written = 0;
    const std::size_t size = boost::asio::buffer_size(buffers);
    while (written < size) {
      const TlsProgress progress = WriteRecord(*tls_, Rest<Buffers>{buffers, written});
      ec = progress.ec;
      if (progress.wants != TlsProgress::Wants::kNothing) ec = boost::asio::error::would_block;
      if (ec) break;
      written += progress.bytes;
    }
    return written;
  }

  // Nothing more will be written; reading goes on.
  void ShutdownSend() {
    if (tls_) tls_->SayClose();
    boost::system::error_code ignored;
    socket_.shutdown(boost::asio::socket_base::shutdown_send, ignored);
  }

  void Close() {
    tls_.reset();
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  // Buffers without their first bytes.
  template <class Buffers>
  struct Rest {
    const Buffers& buffers;
    std::size_t skipped;
  };

  template <class Buffers>
  static boost::asio::mutable_buffer FirstOf(const Buffers& buffers) {
    for (auto at = boost::asio::buffer_sequence_begin(buffers);
         at != boost::asio::buffer_sequence_end(buffers); ++at) {
      const boost::asio::mutable_buffer buffer(*at);
      if (buffer.size() > 0) return buffer;
    }
    return {};
  }

  template <class Buffers>
  static TlsProgress WriteRecord(TlsSession& tls, const Buffers& buffers) {
    return WriteRecord(tls, Rest<Buffers>{buffers, 0});
  }

  // The next bytes, as many as a record takes, wherever they lie: so a write that is repeated has
  // the same bytes, however what is left was put together since.
  template <class Buffers>
  static TlsProgress WriteRecord(TlsSession& tls, const Rest<Buffers>& rest) {
    static thread_local std::array<char, TlsSession::kRecordBytes> joined;
    std::size_t skip = rest.skipped;
    std::size_t size = 0;
    for (auto at = boost::asio::buffer_sequence_begin(rest.buffers);
         at != boost::asio::buffer_sequence_end(rest.buffers); ++at) {
      boost::asio::const_buffer buffer(*at);
      const std::size_t skipped = std::min(skip, buffer.size());
      skip -= skipped;
      buffer += skipped;
      if (size == 0 && buffer.size() >= joined.size()) {
        return tls.Write(buffer.data(), joined.size());
      }
      const std::size_t taken = std::min(buffer.size(), joined.size() - size);
      if (taken > 0) std::memcpy(joined.data() + size, buffer.data(), taken);
      size += taken;
    }
    return tls.Write(joined.data(), size);
  }

  // Repeats a step of TLS until it is done. Inside the call that began it, its handler is not
  // called.
  template <class Step, class Handler>
  struct Operation {
    using executor_type = boost::asio::associated_executor_t<Handler, Transport::executor_type>;
    using allocator_type = boost::asio::associated_allocator_t<Handler>;
    executor_type get_executor() const {
      return boost::asio::get_associated_executor(handler, transport->get_executor());
    }
    allocator_type get_allocator() const { return boost::asio::get_associated_allocator(handler); }

    void operator()(error_code ec = {}) {
      if (!ec && !transport->is_open()) ec = boost::asio::error::operation_aborted;
      TlsProgress progress{TlsProgress::Wants::kNothing, ec, 0};
      if (!ec) progress = step(*transport->tls_);
      const bool in_call = std::exchange(is_begun, true) == false;
      if (progress.wants != TlsProgress::Wants::kNothing) {
        const auto what =
            progress.wants == TlsProgress::Wants::kRead ? Socket::wait_read : Socket::wait_write;
        Socket& socket = transport->socket_;
        return socket.async_wait(what, std::move(*this));
      }
      if (!in_call) return handler(progress.ec, progress.bytes);
      auto executor = get_executor();
      boost::asio::post(executor, [taken = std::move(handler), progress]() mutable {
        taken(progress.ec, progress.bytes);
      });
    }

    Transport* transport;
    Step step;
    Handler handler;
    bool is_begun = false;
  };

  template <class Step, class Handler>
  void Run(Step step, Handler handler) {
    Operation<Step, Handler>{this, std::move(step), std::move(handler)}();
  }

  Socket socket_;
  std::optional<TlsSession> tls_;
};

}  // namespace sluice::intake
