#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/heartbeat.h"
#include "intake/session_host.h"
#include "intake/unix_listener.h"

namespace sluice::intake {

// One event loop with its own accepting socket (SO_REUSEPORT: the kernel spreads connections over
// the threads) or its share in inherited ones, its handler and its connections, which stay on it
// for life.
class IoThread {
 public:
  IoThread(ServerPartsPtr parts, const IngestHandlerFactory& make_handler);
  ~IoThread();

  // Binds and listens. Fails with the system's reason. Before Start.
  core::Result<boost::asio::ip::tcp::endpoint> Listen(const boost::asio::ip::tcp::endpoint& where);
  // Accepts from a socket that listens already, as the other threads do. What waits in it when this
  // ends is for those who still hold it. Keeps a duplicate of the descriptor. Before Start.
  core::Result<boost::asio::ip::tcp::endpoint> Share(int descriptor);
  // Takes connections of this unix socket too, which it owns. Before Start.
  void ListenUnix(int socket);
  void Start();

  // The next three may be called from any thread and return at once.
  // Stops accepting.
  void StopAccepting();
  // Closes what is idle, and has nothing on its way as far as can be seen.
  void CloseIdle();
  // Both; a request that is half here ends after a grace.
  void StartDrain();
  // Goes by these from now on, and then calls `done` on its thread. Any thread; returns at once.
  void Use(ServerPartsPtr parts, std::function<void()> done);
  // Connections that are open. Any thread.
  std::size_t connections() const { return host_.connections.load(std::memory_order_acquire); }
  // When the loop last came round. Any thread.
  std::chrono::steady_clock::time_point last_beat() const { return beat_.last(); }
  // Closes everything and ends the thread. From another thread, once.
  void Stop();

 private:
  using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                     boost::asio::io_context::executor_type>;

  // What a PostFunction holds: outlives the loop, which takes itself out before it goes.
  struct Mailbox {
    std::mutex mutex;
    boost::asio::io_context* io = nullptr;
  };

  // One accepting socket.
  struct Door {
    explicit Door(boost::asio::io_context& io) : acceptor(io), retry(io) {}
    boost::asio::ip::tcp::acceptor acceptor;
    boost::asio::ip::tcp::endpoint peer;
    boost::asio::steady_timer retry;
  };

  void Accept(Door& door);
  void OnAccept(Door& door, const boost::system::error_code& ec, TcpSocket socket);
  // An empty address is a unix socket.
  void Take(Socket socket, std::string address, const TlsContextPtr& tls);
  TlsContextPtr Tls() const;
  void RetryAccept(Door& door);
  void CloseDoors();
  void DrainSessions();
  void Tick();

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::vector<std::unique_ptr<Door>> doors_;
  std::unique_ptr<UnixAcceptor> unix_acceptor_;  // null: none
  boost::asio::steady_timer tick_{io_};
  core::Heartbeat beat_;
  bool stopping_ = false;  // on the thread itself, as the next
  std::optional<std::chrono::steady_clock::time_point> drain_since_;
  SessionHost host_;
  std::thread thread_;
};

}  // namespace sluice::intake
