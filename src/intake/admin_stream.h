#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace sluice::intake {

// A reply of the admin listener that goes on: whoever has something to say pushes it, from any
// thread, and the connection sends it as one chunk (for server-sent events: one whole event). What
// a slow peer does not take waits up to a bound; above that new chunks are dropped and counted, so
// a pusher never waits.
class AdminStream {
 public:
  static constexpr std::size_t kMaxBufferedBytes = 1u << 20;

  explicit AdminStream(std::size_t max_buffered_bytes = kMaxBufferedBytes)
      : max_buffered_bytes_(max_buffered_bytes) {}

  enum class Pushed : std::uint8_t { kTaken, kDropped, kClosed };
  // An empty chunk is nothing. kClosed: nobody listens any more, forget this stream.
  Pushed Push(std::string chunk);
  // What was pushed is still sent, then the reply ends.
  void Close();
  bool closed() const;
  // Chunks that did not fit.
  std::uint64_t dropped() const;

  // The connection's side, on its thread. `wake` is called (from any thread, under no lock of the
  // stream) when there is something to take or to end; at once if there is already.
  void Attach(std::function<void()> wake);
  struct Taken {
    std::string bytes;  // all chunks that wait, joined
    bool last = false;  // nothing will follow
  };
  Taken Take();
  // The peer is gone: what waits is thrown away.
  void Abandon();

 private:
  const std::size_t max_buffered_bytes_;
  mutable std::mutex mutex_;
  std::string buffered_;
  bool closed_ = false;
  std::uint64_t dropped_ = 0;
  std::function<void()> wake_;
};

}  // namespace sluice::intake
