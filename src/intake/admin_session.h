#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "intake/admin_core.h"
#include "intake/transport.h"

namespace sluice::intake {

// One connection of the admin listener: reads a request, has its route answer it, goes on. On the
// I/O thread of the listener; kept alive by the operation that it waits for, or by AdminCore::busy.
class AdminSession : public std::enable_shared_from_this<AdminSession> {
 public:
  // kHealthOnly: of the last few connections that the listener takes; only routes that never block
  // are answered, so that health checks pass when workers and disks do not.
  enum class Serves { kAll, kHealthOnly };

  AdminSession(Transport transport, std::string peer, std::shared_ptr<AdminCore> core,
               Serves serves);
  ~AdminSession();
  AdminSession(const AdminSession&) = delete;
  AdminSession& operator=(const AdminSession&) = delete;

  void Start();
  // Makes room for a newer connection. Only while it waits for its peer.
  void Evict();

 private:
  using error_code = boost::beast::error_code;

  // The connection is closed after this time, unless it is set again or stopped before.
  void CloseAfter(std::chrono::steady_clock::duration time);
  void StopClock() { clock_.cancel(); }
  void Close();

  void OnHandshake(const error_code& ec);
  void ReadHead();
  void OnHead(const error_code& ec);
  void ReadBody();
  void OnBody(const error_code& ec);
  void Dispatch();
  AdminRequest TakeRequest();
  void OnReply(AdminReply reply);
  void Write(AdminReply reply);
  void OnWritten(const error_code& ec);
  void DrainAndClose();

  void StartStream(AdminReply reply);
  void WatchPeer();
  void SendChunks();
  void EndStream();

  void BeginWaiting();
  void EndWaiting();

  std::weak_ptr<AdminCore> weak_core_;
  AdminCore& core_;  // owns the operations, and so this
  const Serves serves_;
  Transport stream_;
  boost::asio::steady_timer clock_;
  const std::string peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  AdminRouter::Found found_;
  unsigned version_ = 11;
  bool head_only_ = false;
  bool keep_alive_ = false;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  std::optional<std::list<AdminSession*>::iterator> waiting_;
  std::size_t drained_ = 0;

  std::shared_ptr<AdminStream> source_;
  boost::beast::http::response<boost::beast::http::empty_body> stream_head_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::empty_body>>
      stream_serializer_;
  AdminStream::Taken taken_;
  bool sending_ = false;
};

}  // namespace sluice::intake
