#include "registry/worker.h"

#include <utility>

namespace sluice::registry {

void Worker::Start() {
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

void Worker::Post(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void Worker::Stop() {
  std::deque<std::function<void()>> dropped;  // destroyed outside the lock
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(tasks_);
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Worker::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
    if (stopped_) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before the lock is taken
    lock.lock();
  }
}

}  // namespace sluice::registry
