#include "intake/event_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "intake/io_thread.h"
#include "intake/listen_error.h"

namespace sluice::intake {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kStopPoll{2};
// A thread comes to what is posted to it within microseconds, unless something is wrong.
constexpr std::chrono::seconds kLongestChange{5};

// SO_REUSEPORT lets a second process of the same user take the same port without a word: see first
// that it is free.
boost::system::error_code ProbePort(const tcp::endpoint& where) {
  boost::system::error_code ec;
  if (where.port() == 0) return ec;
  asio::io_context io;
  tcp::acceptor probe(io);
  probe.open(where.protocol(), ec);
  if (!ec) probe.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) probe.bind(where, ec);
  if (!ec) probe.listen(1, ec);
  return ec;
}

}  // namespace

struct EventServer::Impl {
  Impl(const core::Config& c, AdmissionControl& a, core::Metrics& m, IngestHandlerFactory f,
       const streams::StreamRegistry* streams)
      : config(c),
        admission(a),
        metrics(m),
        make_handler(std::move(f)),
        stream_configs(streams != nullptr && streams->configured()
                           ? std::make_unique<StreamConfigPages>(*streams, c.http.compression_level)
                           : nullptr) {}

  const core::Config& config;
  AdmissionControl& admission;
  core::Metrics& metrics;
  IngestHandlerFactory make_handler;
  const std::unique_ptr<StreamConfigPages> stream_configs;
  std::vector<std::unique_ptr<IoThread>> threads;
  tcp::endpoint bound;
  bool draining = false;

  bool Busy() const {
    if (admission.in_flight() > 0) return true;
    for (const auto& thread : threads) {
      if (thread->connections() > 0) return true;
    }
    return false;
  }
};

EventServer::EventServer(const core::Config& config, AdmissionControl& admission,
                         core::Metrics& metrics, IngestHandlerFactory make_handler,
                         const streams::StreamRegistry* streams)
    : impl_(std::make_unique<Impl>(config, admission, metrics, std::move(make_handler), streams)) {}

EventServer::~EventServer() { Stop(std::chrono::steady_clock::now()); }

core::Result<void> EventServer::Start() {
  const core::HttpOptions& options = impl_->config.http;
  // Without an owner: it outlives this.
  const auto parts = Prepare(ConfigPtr(std::shared_ptr<void>(), &impl_->config));
  if (!parts) return parts.error();
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(options.interface, ec);
  const tcp::endpoint where(address, options.port);
  if (!ec) ec = ProbePort(where);
  if (ec) return ListenError("interface", "port", options.interface, options.port, ec);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const int count = options.io_threads > 0 ? options.io_threads : static_cast<int>(cores);
  impl_->bound = where;
  for (int i = 0; i < count; ++i) {
    auto thread = std::make_unique<IoThread>(*parts, impl_->make_handler);
    const auto bound =
        thread->Listen(impl_->bound);  // the others on the port that the first one got
    if (!bound) {
      impl_->threads.clear();
      return ListenError("interface", "port", options.interface, options.port,
                         bound.error().message);
    }
    impl_->bound = *bound;
    impl_->threads.push_back(std::move(thread));
  }
  for (const auto& thread : impl_->threads) thread->Start();
  return {};
}

core::Result<ServerPartsPtr> EventServer::Prepare(ConfigPtr config) const {
  auto trusted = AddressSet::Parse(config->http.trusted_proxies);
  if (!trusted) {
    return core::Error{core::ErrorCode::kInternal, "trusted_proxies: " + trusted.error().message};
  }
  return std::make_shared<const ServerParts>(
      std::move(config), *std::move(trusted),
      ServerParts::Fixed{impl_->admission, impl_->metrics, impl_->stream_configs.get()});
}

bool EventServer::Use(const ServerPartsPtr& parts) {
  impl_->admission.Use(parts->config.limits);
  if (impl_->stream_configs) impl_->stream_configs->Use(parts->config.http.compression_level);
  // Shared: a thread that is late may come to it after this has returned.
  const auto waiting = std::make_shared<std::atomic<std::size_t>>(impl_->threads.size());
  const auto done = std::make_shared<std::promise<void>>();
  for (const auto& thread : impl_->threads) {
    thread->Use(parts, [waiting, done] {
      if (waiting->fetch_sub(1) == 1) done->set_value();
    });
  }
  return impl_->threads.empty() ||
         done->get_future().wait_for(kLongestChange) == std::future_status::ready;
}

std::uint16_t EventServer::port() const { return impl_->bound.port(); }

std::string EventServer::address() const {
  return AddressAndPort(impl_->config.http.interface, port());
}

void EventServer::StartDrain() {
  if (std::exchange(impl_->draining, true)) return;
  impl_->admission.StartDrain();
  for (const auto& thread : impl_->threads) thread->StartDrain();
}

bool EventServer::Stop(std::chrono::steady_clock::time_point deadline) {
  if (impl_->threads.empty()) return true;
  StartDrain();
  while (impl_->Busy() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kStopPoll);
  }
  const bool finished = !impl_->Busy();
  // What it posts to the threads needs them.
  if (impl_->stream_configs) impl_->stream_configs->Stop();
  for (const auto& thread : impl_->threads) thread->Stop();
  impl_->threads.clear();
  return finished;
}

}  // namespace sluice::intake
