#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "core/metrics.h"
#include "intake/tls_context.h"
#include "intake/tls_session.h"

namespace sluice::intake {

// The certificate of one listener, kept up to date: its files are looked at every second and read
// again when they have changed and then stayed as they are for a second, since certificate and key
// are seldom put there at one time. What cannot be used is told in the log and counted, and the one
// before stays in use. Any thread.
class TlsStore {
 public:
  // `listener` is the metrics' label; keys begin with `section` ("tls."). `options` without a
  // certificate: plain HTTP, nothing happens.
  TlsStore(core::TlsOptions options, std::string listener, std::string section,
           core::Metrics& metrics);
  ~TlsStore() { Stop(); }

  // Reads the files and begins to watch them. Fails with one sentence that says which and why.
  core::Result<void> Start();
  void Stop();

  // Whether the files could be used now; if not, the sentence.
  core::Result<void> Check() const;
  // Reads the files now. On failure the sentence, which is in the log too; the one before stays.
  core::Result<void> Reload();

  // For a new connection; null: plain.
  TlsContextPtr Current() const;

  // How a handshake ended.
  enum class Handshake : std::uint8_t { kGood, kClientCertificate, kFailed };
  void Count(Handshake how) { handshakes_[static_cast<std::size_t>(how)]->Increment(); }
  // Counts and logs why.
  void CountFailed(const TlsSession& session);

 private:
  using Stamps = std::vector<std::array<std::int64_t, 4>>;

  Stamps StampsOfFiles() const;
  void Use(TlsContextPtr context);
  void Watch();

  const core::TlsOptions options_;
  const std::string listener_;
  const std::string section_;
  prometheus::Gauge* expiry_ = nullptr;
  prometheus::Counter* reloads_ = nullptr;
  prometheus::Counter* failed_reloads_ = nullptr;
  std::array<prometheus::Counter*, 3> handshakes_{};

  mutable std::mutex mutex_;  // guards the next
  TlsContextPtr current_;
  std::chrono::steady_clock::time_point made_;
  bool stopping_ = false;
  std::condition_variable stop_;
  Stamps used_;  // of the files that were read last; the watching thread's once it runs
  std::thread watcher_;
};

}  // namespace sluice::intake
