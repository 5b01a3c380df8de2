#include "daemon/reload_thread.h"

namespace sluice::daemon {

void ReloadThread::Ask() {
  const std::lock_guard lock(mutex_);
  asked_ = true;
  wake_.notify_one();
}

void ReloadThread::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void ReloadThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return asked_ || stopping_; });
    if (stopping_) return;
    asked_ = false;
    lock.unlock();
    reload_();
    lock.lock();
  }
}

}  // namespace sluice::daemon
