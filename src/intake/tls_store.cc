#include "intake/tls_store.h"

#include <sys/stat.h>

#include <utility>

#include "core/log.h"

namespace sluice::intake {
namespace {

constexpr std::chrono::seconds kLook{1};
// The keys of session tickets go with a context: they should not live as long as the process.
constexpr std::chrono::hours kTicketKeyLife{12};

}  // namespace

TlsStore::TlsStore(core::TlsOptions options, std::string listener, std::string section,
                   core::Metrics& metrics)
    : options_(std::move(options)), listener_(std::move(listener)), section_(std::move(section)) {
  if (!options_.enabled()) return;
  expiry_ = &prometheus::BuildGauge()
                 .Name("sluice_tls_certificate_expiry_timestamp_seconds")
                 .Help("When the certificate in use expires")
                 .Register(metrics.registry())
                 .Add({{"listener", listener_}});
  auto& reloads = prometheus::BuildCounter()
                      .Name("sluice_tls_reloads_total")
                      .Help("Certificate files read again, by what came of it")
                      .Register(metrics.registry());
  reloads_ = &reloads.Add({{"listener", listener_}, {"outcome", "used"}});
  failed_reloads_ = &reloads.Add({{"listener", listener_}, {"outcome", "failed"}});
  auto& handshakes = prometheus::BuildCounter()
                         .Name("sluice_tls_handshakes_total")
                         .Help("TLS handshakes by how they ended")
                         .Register(metrics.registry());
  for (const auto& [how, word] : {std::pair{Handshake::kGood, "good"},
                                  {Handshake::kClientCertificate, "client_certificate"},
                                  {Handshake::kFailed, "failed"}}) {
    handshakes_[static_cast<std::size_t>(how)] =
        &handshakes.Add({{"listener", listener_}, {"outcome", word}});
  }
}

core::Result<void> TlsStore::Start() {
  if (!options_.enabled()) return {};
  used_ = StampsOfFiles();
  TlsReading reading = LoadTls(options_, section_, std::chrono::system_clock::now());
  if (!reading.context) return core::Error{core::ErrorCode::kInternal, reading.Problem()};
  Use(std::move(reading.context));
  watcher_ = std::thread([this] { Watch(); });
  return {};
}

void TlsStore::Stop() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  watcher_.join();
}

TlsContextPtr TlsStore::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void TlsStore::Use(TlsContextPtr context) {
  expiry_->Set(static_cast<double>(std::chrono::system_clock::to_time_t(context->expires)));
  const std::lock_guard lock(mutex_);
  current_ = std::move(context);
  made_ = std::chrono::steady_clock::now();
}

void TlsStore::CountFailed(const TlsSession& session) {
  const bool no_certificate = session.failure() == TlsSession::Failure::kClientCertificate;
  Count(no_certificate ? Handshake::kClientCertificate : Handshake::kFailed);
  core::Log(core::LogLevel::kInfo, "tls_handshake_failed",
            "A connection ended in its TLS handshake: " + session.failure_text() + ".",
            {{"listener", listener_}});
}

core::Result<void> TlsStore::Check() const {
  if (!options_.enabled()) return {};
  const TlsReading reading = LoadTls(options_, section_, std::chrono::system_clock::now());
  if (reading.context) return {};
  return core::Error{core::ErrorCode::kInternal, reading.Problem()};
}

core::Result<void> TlsStore::Reload() {
  if (!options_.enabled()) return {};
  TlsReading reading = LoadTls(options_, section_, std::chrono::system_clock::now());
  if (!reading.context) {
    failed_reloads_->Increment();
    core::Error error{core::ErrorCode::kInternal, reading.Problem()};
    core::Log(core::LogLevel::kError, "tls_reload_failed",
              error.message + " The certificate before stays in use.", {{"listener", listener_}});
    const std::lock_guard lock(mutex_);
    made_ = std::chrono::steady_clock::now();  // not again before its time, or the files change
    return error;
  }
  Use(std::move(reading.context));
  reloads_->Increment();
  core::Log(core::LogLevel::kInfo, "tls_reloaded",
            "New connections get the certificate that was read now.", {{"listener", listener_}});
  return {};
}

// A file that cannot be looked at has zeros.
TlsStore::Stamps TlsStore::StampsOfFiles() const {
  Stamps stamps;
  for (const std::string* path : {&options_.certificate, &options_.key, &options_.client_ca}) {
    struct stat file {};
    if (path->empty() || ::stat(TlsFile(*path).c_str(), &file) != 0) file = {};
    stamps.push_back({static_cast<std::int64_t>(file.st_ino), file.st_size, file.st_mtim.tv_sec,
                      file.st_mtim.tv_nsec});
  }
  return stamps;
}

void TlsStore::Watch() {
  Stamps seen = used_;
  while (true) {
    bool tickets_are_old = false;
    {
      std::unique_lock lock(mutex_);
      if (stop_.wait_for(lock, kLook, [this] { return stopping_; })) return;
      tickets_are_old = std::chrono::steady_clock::now() - made_ > kTicketKeyLife;
    }
    const Stamps now = StampsOfFiles();
    const bool is_quiet = now == std::exchange(seen, now);
    if (!is_quiet || (now == used_ && !tickets_are_old)) continue;
    used_ = now;
    static_cast<void>(Reload());
  }
}

}  // namespace sluice::intake
