#include "intake/event_server.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <future>
#include <mutex>
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
       const Extras& extras)
      : config(c),
        admission(a),
        metrics(m),
        rates(extras.rates),
        tls(extras.tls),
        make_handler(std::move(f)),
        stream_configs(
            extras.streams != nullptr && extras.streams->configured()
                ? std::make_unique<StreamConfigPages>(*extras.streams, c.http.compression_level)
                : nullptr) {}

  const core::Config& config;
  AdmissionControl& admission;
  core::Metrics& metrics;
  RateLimits* const rates;
  TlsStore* const tls;
  IngestHandlerFactory make_handler;
  const std::unique_ptr<StreamConfigPages> stream_configs;
  std::vector<std::unique_ptr<IoThread>> threads;
  tcp::endpoint bound;
  UnixListener unix_listener;
  bool draining = false;
  std::mutex changing;  // Use and the end of the threads, which may come from two

  core::Result<void> Bind(const std::vector<int>& inherited);

  bool HasConnections() const {
    return std::any_of(threads.begin(), threads.end(),
                       [](const auto& thread) { return thread->connections() > 0; });
  }
  bool Busy() const { return admission.in_flight() > 0 || HasConnections(); }

  void AwaitNoConnections(std::chrono::steady_clock::time_point until) const {
    while (HasConnections() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(kStopPoll);
  }
};

EventServer::EventServer(const core::Config& config, AdmissionControl& admission,
                         core::Metrics& metrics, IngestHandlerFactory make_handler,
                         const Extras& extras)
    : impl_(std::make_unique<Impl>(config, admission, metrics, std::move(make_handler), extras)) {}

EventServer::~EventServer() { Stop(std::chrono::steady_clock::now()); }

core::Result<void> EventServer::Impl::Bind(const std::vector<int>& inherited) {
  const core::HttpOptions& options = config.http;
  if (!inherited.empty()) {
    for (const auto& thread : threads) {
      for (const int descriptor : inherited) {
        const auto adopted = thread->Share(descriptor);
        if (!adopted)
          return ListenError("interface", "port", "an inherited socket", 0,
                             adopted.error().message);
        if (bound.port() == 0) bound = *adopted;
      }
    }
    for (const int descriptor : inherited) ::close(descriptor);
    return {};
  }
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(options.interface, ec);
  bound = tcp::endpoint(address, options.port);
  if (!ec) ec = ProbePort(bound);
  if (ec) return ListenError("interface", "port", options.interface, options.port, ec);
  for (const auto& thread : threads) {
    const auto listening = thread->Listen(bound);  // the others on the port that the first one got
    if (!listening) {
      return ListenError("interface", "port", options.interface, options.port,
                         listening.error().message);
    }
    bound = *listening;
  }
  return {};
}

core::Result<void> EventServer::Start(const std::vector<int>& inherited) {
  // Without an owner: it outlives this.
  const auto parts = Prepare(ConfigPtr(std::shared_ptr<void>(), &impl_->config));
  if (!parts) return parts.error();
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const int wanted = impl_->config.http.io_threads;
  const int count = wanted > 0 ? wanted : static_cast<int>(cores);
  for (int i = 0; i < count; ++i) {
    impl_->threads.push_back(std::make_unique<IoThread>(*parts, impl_->make_handler));
  }
  if (auto listening = impl_->Bind(inherited); !listening) {
    impl_->threads.clear();
    return listening;
  }
  const std::string& unix_socket = impl_->config.http.unix_socket;
  if (!unix_socket.empty()) {
    auto listener = UnixListener::Open(unix_socket, "unix_socket");
    if (!listener) {
      impl_->threads.clear();
      return listener.error();
    }
    impl_->unix_listener = std::move(*listener);
    for (const auto& thread : impl_->threads) thread->ListenUnix(impl_->unix_listener.Duplicate());
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
      ServerParts::Fixed{impl_->admission, impl_->metrics, impl_->stream_configs.get(),
                         impl_->rates, impl_->tls});
}

bool EventServer::Use(const ServerPartsPtr& parts) {
  const std::lock_guard changing(impl_->changing);
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
  return AddressAndPort(impl_->bound.address().to_string(), port());
}

void EventServer::Leave(std::chrono::steady_clock::time_point until) {
  impl_->admission.StartLeaving();
  for (const auto& thread : impl_->threads) thread->StopAccepting();
  impl_->AwaitNoConnections(until);
}

void EventServer::CloseIdle(std::chrono::steady_clock::time_point until) {
  for (const auto& thread : impl_->threads) thread->CloseIdle();
  impl_->AwaitNoConnections(until);
}

std::chrono::steady_clock::time_point EventServer::last_beat() const {
  auto last = std::chrono::steady_clock::time_point::max();
  for (const auto& thread : impl_->threads) last = std::min(last, thread->last_beat());
  return last;
}

void EventServer::StartDrain() {
  if (std::exchange(impl_->draining, true)) return;
  impl_->admission.StartDrain();
  for (const auto& thread : impl_->threads) thread->StartDrain();
  impl_->unix_listener.Close();
}

bool EventServer::Stop(std::chrono::steady_clock::time_point deadline) {
  if (impl_->threads.empty()) return true;
  StartDrain();
  while (impl_->Busy() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kStopPoll);
  }
  const bool finished = !impl_->Busy();
  const std::lock_guard changing(impl_->changing);
  // What it posts to the threads needs them.
  if (impl_->stream_configs) impl_->stream_configs->Stop();
  for (const auto& thread : impl_->threads) thread->Stop();
  impl_->threads.clear();
  return finished;
}

}  // namespace sluice::intake
