#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "intake/session_host.h"

namespace sluice::intake {

// One event loop with its own accepting socket (SO_REUSEPORT: the kernel spreads connections over
// the threads), its handler and its connections, which stay on it for life.
class IoThread {
 public:
  IoThread(ServerPartsPtr parts, const IngestHandlerFactory& make_handler);
  ~IoThread();

  // Binds and listens. Fails with the system's reason. Before Start.
  core::Result<boost::asio::ip::tcp::endpoint> Listen(const boost::asio::ip::tcp::endpoint& where);
  void Start();

  // Stops accepting and closes what is idle. From any thread; returns at once.
  void StartDrain();
  // Goes by these from now on, and then calls `done` on its thread. Any thread; returns at once.
  void Use(ServerPartsPtr parts, std::function<void()> done);
  // Connections that are open. Any thread.
  std::size_t connections() const { return host_.connections.load(std::memory_order_acquire); }
  // Closes everything and ends the thread. From another thread, once.
  void Stop();

 private:
  // What a PostFunction holds: outlives the loop, which takes itself out before it goes.
  struct Mailbox {
    std::mutex mutex;
    boost::asio::io_context* io = nullptr;
  };

  void Accept();
  void OnAccept(const boost::system::error_code& ec, Socket socket);
  void RetryAccept();
  void Tick();

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  boost::asio::ip::tcp::acceptor acceptor_{io_};
  boost::asio::ip::tcp::endpoint peer_;
  boost::asio::steady_timer tick_{io_};
  boost::asio::steady_timer retry_{io_};
  bool stopping_ = false;  // on the thread itself, as the next
  std::optional<std::chrono::steady_clock::time_point> drain_since_;
  SessionHost host_;
  std::thread thread_;
};

}  // namespace sluice::intake
