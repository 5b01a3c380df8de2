#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace sluice::daemon {

// Reloads that a signal asks for, on a thread of their own: the main thread, which tells systemd
// that the process is alive, must not wait for files and networks.
class ReloadThread {
 public:
  explicit ReloadThread(std::function<void()> reload) : reload_(std::move(reload)) {}
  ~ReloadThread() { Stop(); }

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }
  // Reloads soon; several calls may share one reload that begins after the last of them.
  void Ask();
  // Waits for a reload that is under way; what was only asked for does not happen.
  void Stop();

 private:
  void Run();

  const std::function<void()> reload_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool asked_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::daemon
