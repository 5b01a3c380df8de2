#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>
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
#include "intake/rate_limits.h"
#include "intake/router.h"
#include "intake/stream_config_pages.h"
#include "intake/tls_store.h"
#include "intake/transport.h"

namespace sluice::intake {

class Session;

// The other end of a connection.
struct Peer {
  std::string address;      // without port; empty: a unix socket
  bool is_trusted = false;  // a proxy whose forwarded-for headers are believed
  AddressPlace place;       // among the connections of its address
};

// One generation of what all I/O threads share: immutable, but for what is thread-safe and outlives
// them all. A reload hands a new one to each thread; a session changes over between two requests.
struct ServerParts {
  // What does not depend on the configuration.
  struct Fixed {
    AdmissionControl& admission;
    core::Metrics& metrics;
    StreamConfigPages* stream_configs;  // null: streams are not configured
    RateLimits* rates;                  // null: nothing is limited
    TlsStore* tls;                      // null: plain HTTP
  };
  ServerParts(ConfigPtr from, AddressSet trusted, const Fixed& fixed);

  // Whether a peer's forwarded-for headers are believed. Who may connect to a unix socket is up to
  // its file.
  bool Trusts(std::string_view address) const {
    return address.empty() || trusted_proxies.Contains(address);
  }

  const ConfigPtr config_owner;
  const core::Config& config;
  const Router router;
  const Pages pages;
  const AddressSet trusted_proxies;
  AdmissionControl& admission;
  core::Metrics& metrics;
  StreamConfigPages* const stream_configs;
  RateLimits* const rates;
  TlsStore* const tls;
};
using ServerPartsPtr = std::shared_ptr<const ServerParts>;

// What the sessions of one I/O thread share; used on that thread only.
struct SessionHost {
  explicit SessionHost(ServerPartsPtr shared)
      : parts(std::move(shared)), deadlines(parts->config.limits), writer(parts->config.http) {}

  // From now on for new requests; those that are being answered end as they began.
  void Use(ServerPartsPtr next);

  // A buffer for a body of `capacity` bytes, from those that were given back if one is large
  // enough.
  ByteBuffer TakeBuffer(std::size_t capacity);
  void GiveBuffer(ByteBuffer&& buffer);

  ServerPartsPtr parts;
  Deadlines deadlines;
  ReplyWriter writer;
  core::UuidGenerator uuids;
  std::minstd_rand random{std::random_device{}()};  // for what only has to differ
  std::unique_ptr<IngestHandler> handler;
  std::unordered_set<Session*> sessions;
  std::atomic<std::size_t> connections{0};  // sessions.size(), for other threads
  std::string scratch;                      // the head of an answer on its way to the socket
  std::vector<ByteBuffer> spare_buffers;
};

}  // namespace sluice::intake
