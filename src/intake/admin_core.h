#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>

#include "intake/admin_router.h"
#include "intake/tls_store.h"

namespace sluice::intake {

class AdminSession;

// What the connections of the admin listener share. Used by its one I/O thread, except `workers`
// and `queued`. Answers and streams, which may outlive the server, hold it weakly.
struct AdminCore {
  static constexpr std::size_t kMaxQueued = 4096;  // requests that wait for a worker
  static constexpr std::size_t kMaxStreams = 64;

  AdminRouter router;
  TlsStore* tls = nullptr;
  std::size_t max_connections = 0;
  std::size_t connections = 0;
  std::size_t streams = 0;
  // Connections that wait for their peer, to send a request or to take an answer; the longest
  // first.
  std::list<AdminSession*> waiting;
  std::atomic<std::size_t> queued{0};
  std::unique_ptr<boost::asio::thread_pool> workers;
  boost::asio::io_context io{1};  // after the above, which the connections that it owns use
  // Connections whose request waits for its answer, which knows them weakly.
  std::unordered_map<AdminSession*, std::shared_ptr<AdminSession>> busy;
};

}  // namespace sluice::intake
