#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace sluice::fetch {

// Asks the admin listener of a running daemon. For commands: blocks, one connection for each call.
// `address` is http://HOST:PORT, https://HOST:PORT (certificates checked against the system's
// authorities, or those of the variable SSL_CERT_FILE), or unix:PATH.
class AdminClient {
 public:
  // `patience`: how long nothing may be heard.
  explicit AdminClient(std::string address,
                       std::chrono::seconds patience = std::chrono::seconds(30))
      : address_(std::move(address)), patience_(patience) {}

  struct Answer {
    int status = 0;
    std::string body;
    // What a problem document says, else the body.
    std::string Detail() const;
  };
  // `body` is JSON, or empty. Fails with why there was no answer.
  core::Result<Answer> Ask(std::string_view method, std::string_view target,
                           std::string_view body = {}) const;

  // One server-sent event; false: enough.
  using OnEvent = std::function<bool(std::string_view name, std::string_view data)>;
  // Reads events until the daemon ends the stream (success), or `on_event` has enough. Fails if
  // there was no answer of 200, or nothing was heard any more.
  core::Result<void> Watch(std::string_view target, const OnEvent& on_event) const;

 private:
  std::string address_;
  std::chrono::seconds patience_;
};

}  // namespace sluice::fetch
