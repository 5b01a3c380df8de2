#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/config.h"
#include "core/metrics.h"
#include "core/uuid.h"
#include "intake/address_set.h"
#include "intake/admission.h"
#include "intake/byte_buffer.h"
#include "intake/deadlines.h"
#include "intake/http_reply.h"
#include "intake/ingest_handler.h"
#include "intake/pages.h"
#include "intake/router.h"
#include "intake/stream_config_pages.h"

namespace sluice::intake {

class Session;

// A socket without a type-erased executor: one virtual call less per operation.
using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

// What all I/O threads share, read only or thread-safe; outlives them.
struct ServerParts {
  const core::Config& config;
  const Router& router;
  const Pages& pages;
  const AddressSet& trusted_proxies;
  AdmissionControl& admission;
  core::Metrics& metrics;
  StreamConfigPages* stream_configs;  // null: streams are not configured
};

// What the sessions of one I/O thread share; used on that thread only.
struct SessionHost {
  explicit SessionHost(const ServerParts& shared)
      : parts(shared), deadlines(shared.config.limits), writer(shared.config.http) {}

  // A buffer for a body of `capacity` bytes, from those that were given back if one is large
  // enough.
  ByteBuffer TakeBuffer(std::size_t capacity);
  void GiveBuffer(ByteBuffer&& buffer);

  const ServerParts& parts;
  Deadlines deadlines;
  ReplyWriter writer;
  core::UuidGenerator uuids;
  std::unique_ptr<IngestHandler> handler;
  std::unordered_set<Session*> sessions;
  std::atomic<std::size_t> connections{0};  // sessions.size(), for other threads
  std::string scratch;                      // the head of an answer on its way to the socket
  std::vector<ByteBuffer> spare_buffers;
};

}  // namespace sluice::intake
