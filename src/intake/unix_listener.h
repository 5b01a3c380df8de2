#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "intake/transport.h"

namespace sluice::intake {

// A unix socket that listens, and its file, which goes with it. Movable.
class UnixListener {
 public:
  UnixListener() = default;
  UnixListener(UnixListener&& other) noexcept { *this = std::move(other); }
  UnixListener& operator=(UnixListener&& other) noexcept;
  ~UnixListener() { Close(); }

  // Listens at `path`, for the user and group of this process. A socket file that nobody listens at
  // any more is replaced; anything else that is there is left alone. Fails with one sentence that
  // names `key`, the setting.
  static core::Result<UnixListener> Open(const std::string& path, std::string_view key);

  bool is_open() const { return socket_ >= 0; }
  // A further descriptor of the socket, for one more event loop; its owner closes it. -1: none
  // left.
  int Duplicate() const;
  // Ends it and removes the file, if that is still its own.
  void Close();

 private:
  int socket_ = -1;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Takes the connections of a UnixListener on one event loop, and hands them over there.
class UnixAcceptor {
 public:
  // Owns the descriptor `socket`.
  UnixAcceptor(boost::asio::io_context& io, int socket, std::function<void(Socket)> take);

  // Before the loop runs, or on its thread; as the next.
  void Start();
  void Close();

 private:
  void OnFailure(const std::string& reason);

  boost::asio::io_context& io_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer retry_;
  std::function<void(Socket)> take_;
};

}  // namespace sluice::intake
