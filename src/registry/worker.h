#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sluice::registry {

// One thread that runs tasks in the order of their posting; tasks may block. Tasks must not throw.
class Worker {
 public:
  Worker() = default;
  ~Worker() { Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void Start();
  // Any thread, also before Start; after Stop the task is dropped.
  void Post(std::function<void()> task);
  // Waits for the task that is running, drops those that wait. Not from a task.
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace sluice::registry
