#include "intake/unix_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/log.h"

namespace sluice::intake {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;

constexpr int kBacklog = 4096;
constexpr mode_t kMode = 0660;
constexpr std::chrono::milliseconds kAcceptPause{100};

core::Error Cannot(std::string_view key, const std::string& path, const std::string& why) {
  return {core::ErrorCode::kInternal,
          "Cannot listen at " + path + ": " + why + " ('" + std::string(key) + "')."};
}

// Whether a process listens at the socket file.
bool IsListening(const sockaddr_un& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0) return true;
  const int connected =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const bool refused = connected != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return !refused;
}

bool Bind(int socket, const sockaddr_un& address) {
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

UnixListener& UnixListener::operator=(UnixListener&& other) noexcept {
  if (this == &other) return *this;
  Close();
  socket_ = std::exchange(other.socket_, -1);
  path_ = std::move(other.path_);
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

core::Result<UnixListener> UnixListener::Open(const std::string& path, std::string_view key) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Cannot(key, path,
                  "the path of a socket may have " + std::to_string(sizeof(address.sun_path) - 1) +
                      " characters; choose a shorter one");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UnixListener listener;
  listener.socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener.socket_ < 0) return Cannot(key, path, std::strerror(errno));
  ::fchmod(listener.socket_, S_IRUSR | S_IWUSR);  // at no time open to more than it will be
  bool bound = Bind(listener.socket_, address);
  struct stat file {};
  if (!bound && errno == EADDRINUSE && ::lstat(path.c_str(), &file) == 0) {
    if (!S_ISSOCK(file.st_mode)) {
      return Cannot(key, path, "a file is there that is no socket; remove it, or choose another");
    }
    if (IsListening(address)) {
      return Cannot(key, path, "another process listens there; stop it, or choose another path");
    }
    ::unlink(path.c_str());
    bound = Bind(listener.socket_, address);
  }
  if (!bound) {
    return Cannot(key, path,
                  std::string(std::strerror(errno)) +
                      "; see that its folder is there and that this user may write "
                      "there");
  }
  if (::lstat(path.c_str(), &file) == 0) {
    listener.path_ = path;
    listener.device_ = file.st_dev;
    listener.inode_ = file.st_ino;
  }
  if (::chmod(path.c_str(), kMode) != 0 || ::listen(listener.socket_, kBacklog) != 0) {
    return Cannot(key, path, std::strerror(errno));
  }
  return listener;
}

int UnixListener::Duplicate() const { return ::fcntl(socket_, F_DUPFD_CLOEXEC, 0); }

void UnixListener::Close() {
  if (socket_ < 0) return;
  ::close(std::exchange(socket_, -1));
  struct stat file {};
  if (path_.empty() || ::lstat(path_.c_str(), &file) != 0) return;
  if (file.st_dev == device_ && file.st_ino == inode_) ::unlink(path_.c_str());
}

UnixAcceptor::UnixAcceptor(asio::io_context& io, int socket, std::function<void(Socket)> take)
    : io_(io), acceptor_(io), retry_(io), take_(std::move(take)) {
  boost::system::error_code ignored;
  acceptor_.assign(Local(), socket, ignored);
}

void UnixAcceptor::Start() {
  using LocalSocket = asio::basic_stream_socket<Local, asio::io_context::executor_type>;
  acceptor_.async_accept(io_.get_executor(),
                         [this](const boost::system::error_code& ec, LocalSocket socket) {
                           if (!acceptor_.is_open() || ec == asio::error::operation_aborted) return;
                           if (ec && ec != asio::error::connection_aborted)
                             return OnFailure(ec.message());
                           if (!ec) take_(std::move(socket));
                           Start();
                         });
}

void UnixAcceptor::OnFailure(const std::string& reason) {
  core::Log(core::LogLevel::kError, "accept_failed",
            "A connection to a unix socket could not be accepted: " + reason + ".");
  retry_.expires_after(kAcceptPause);
  retry_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec && acceptor_.is_open()) Start();
  });
}

void UnixAcceptor::Close() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
}

}  // namespace sluice::intake
