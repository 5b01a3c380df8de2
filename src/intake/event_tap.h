#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "intake/admin_stream.h"

namespace sluice::intake {

// Who watches events of a stream go by, and how much of that they get: a bounded number of clients,
// each with its own rate; what is above is counted and told in between. Any thread.
class EventTap {
 public:
  enum class Wants : std::uint8_t { kAll, kRefused };
  enum class Outcome : std::uint8_t { kAccepted, kRefused };
  using Clock = std::chrono::steady_clock;
  using Streams = std::vector<std::shared_ptr<AdminStream>>;

  explicit EventTap(const core::TapOptions& options) : options_(options) {}

  // A new client; null if there are as many as may be.
  std::shared_ptr<AdminStream> Open(std::string_view stream, Wants wants, Clock::time_point now);

  // Changes when a client comes or goes; 0 before the first. One relaxed load: who sees events asks
  // this for each, and Filters() when it has changed.
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

  struct Filter {
    std::string stream;
    Wants wants;
    bool Takes(std::string_view name, Outcome outcome) const {
      return name == stream && (wants == Wants::kAll || outcome == Outcome::kRefused);
    }
  };
  std::vector<Filter> Filters() const;

  // Those who get an event of that stream: Send it to them. For the others it counts as dropped.
  Streams Claim(std::string_view stream, Outcome outcome, Clock::time_point now);
  // `text` is one server-sent event.
  static void Send(const Streams& streams, const std::string& text);

  // Tells what was dropped, shows quiet clients that there is somebody, and forgets those who have
  // gone. To be called a few times a second.
  void Tick(Clock::time_point now);

 private:
  struct Client {
    Filter filter;
    std::shared_ptr<AdminStream> stream;
    Clock::time_point second;  // of the rate
    int sent = 0;              // in that second
    std::uint64_t above_rate = 0;
    std::uint64_t notices_lost = 0;
    std::uint64_t dropped_told = 0;
    Clock::time_point told;
    std::uint64_t dropped() const { return above_rate + stream->dropped() - notices_lost; }
  };
  void ForgetClosed();
  void TellDropped(Client& client, Clock::time_point now) const;

  const core::TapOptions options_;
  std::atomic<std::uint64_t> generation_{0};
  mutable std::mutex mutex_;
  std::vector<Client> clients_;
};

}  // namespace sluice::intake
