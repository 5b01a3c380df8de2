#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "produce/file_ops.h"

namespace sluice::produce {

// A disk in memory that knows what a loss of power would leave of it: the bytes and names that were
// synced, and of the rest as much or as little as the test wants. At the call `crash_at` (counted
// from 1) the process is dead: that call and all later ones do nothing and fail.
class CrashDisk {
 public:
  // What became of bytes and names that were not synced.
  enum class Unsynced { kLost, kKept, kHalf };

  struct Node {
    std::string data;
    std::string durable;
  };

  std::size_t crash_at = SIZE_MAX;

  std::size_t calls() const {
    const std::lock_guard lock(mutex);
    return calls_;
  }
  bool dead() const {
    const std::lock_guard lock(mutex);
    return calls_ >= crash_at;
  }

  // The disk that the next process finds.
  std::shared_ptr<CrashDisk> AfterCrash(Unsynced unsynced) const {
    auto disk = std::make_shared<CrashDisk>();
    const std::lock_guard lock(mutex);
    for (const auto& [path, node] : unsynced == Unsynced::kLost ? durable_names : names) {
      auto copy = std::make_shared<Node>();
      copy->data = node->durable;
      if (unsynced == Unsynced::kKept) copy->data = node->data;
      if (unsynced == Unsynced::kHalf) copy->data = Half(*node);
      copy->durable = copy->data;
      disk->names[path] = copy;
    }
    disk->durable_names = disk->names;
    return disk;
  }

  // Counts a call; 0 if the process lives, with the lock held by `lock`.
  int Enter(std::unique_lock<std::mutex>& lock) {
    lock = std::unique_lock(mutex);
    return ++calls_ >= crash_at ? EIO : 0;
  }

  mutable std::mutex mutex;
  std::map<std::string, std::shared_ptr<Node>> names;
  std::map<std::string, std::shared_ptr<Node>> durable_names;

 private:
  // The first half of what differs was written.
  static std::string Half(const Node& node) {
    const std::size_t common = std::min(node.data.size(), node.durable.size());
    std::size_t same = 0;
    while (same < common && node.data[same] == node.durable[same]) ++same;
    std::size_t last = node.data.size();
    if (node.data.size() == node.durable.size()) {
      while (last > same && node.data[last - 1] == node.durable[last - 1]) --last;
    }
    const std::size_t half = same + (last - same) / 2;
    std::string out = node.data.substr(0, half);
    if (node.durable.size() > half && node.data.size() == node.durable.size())
      out += node.durable.substr(half);
    return out;
  }

  std::size_t calls_ = 0;
};

class CrashFileOps final : public FileOps {
 public:
  explicit CrashFileOps(std::shared_ptr<CrashDisk> disk) : disk_(std::move(disk)) {}

  int CreateFolders(const std::string&) override { return Nothing(); }
  int CheckWritable(const std::string&) override { return Nothing(); }
  int LockFolder(const std::string&) override { return Nothing(); }

  int ListFiles(const std::string& path, std::vector<std::string>* names) override {
    std::unique_lock<std::mutex> lock;
    if (int error = disk_->Enter(lock); error != 0) return error;
    for (const auto& [name, node] : disk_->names) {
      const std::size_t slash = name.rfind('/');
      if (name.substr(0, slash) == path) names->push_back(name.substr(slash + 1));
    }
    return 0;
  }

  int Open(const std::string& path, std::unique_ptr<AppendFile>* file) override {
    std::unique_lock<std::mutex> lock;
    if (int error = disk_->Enter(lock); error != 0) return error;
    *file = std::make_unique<File>(disk_, NodeOf(path));
    return 0;
  }

  int OpenFixed(const std::string& path, std::uint64_t size_bytes,
                std::unique_ptr<FixedFile>* file) override {
    std::unique_lock<std::mutex> lock;
    if (int error = disk_->Enter(lock); error != 0) return error;
    auto node = NodeOf(path);
    if (node->data.size() < size_bytes) node->data.resize(size_bytes);
    *file = std::make_unique<Fixed>(disk_, std::move(node));
    return 0;
  }

  int Remove(const std::string& path) override {
    std::unique_lock<std::mutex> lock;
    if (int error = disk_->Enter(lock); error != 0) return error;
    return disk_->names.erase(path) == 1 ? 0 : ENOENT;
  }

  int Rename(const std::string& from, const std::string& to) override {
    std::unique_lock<std::mutex> lock;
    if (int error = disk_->Enter(lock); error != 0) return error;
    const auto at = disk_->names.find(from);
    if (at == disk_->names.end()) return ENOENT;
    disk_->names[to] = at->second;
    disk_->names.erase(from);
    return 0;
  }

  int SyncFolder(const std::string& path) override {
    std::unique_lock<std::mutex> lock;
    if (int error = disk_->Enter(lock); error != 0) return error;
    const auto inside = [&](const auto& entry) {
      return entry.first.substr(0, entry.first.rfind('/')) == path;
    };
    std::erase_if(disk_->durable_names, inside);
    for (const auto& entry : disk_->names) {
      if (inside(entry)) disk_->durable_names.insert(entry);
    }
    return 0;
  }

 private:
  class File final : public AppendFile {
   public:
    File(std::shared_ptr<CrashDisk> disk, std::shared_ptr<CrashDisk::Node> node)
        : disk_(std::move(disk)), node_(std::move(node)) {}
    int Size(std::uint64_t* size_bytes) override {
      std::unique_lock<std::mutex> lock;
      if (int error = disk_->Enter(lock); error != 0) return error;
      *size_bytes = node_->data.size();
      return 0;
    }
    int ReadAt(std::uint64_t offset, char* to, std::size_t length) override {
      std::unique_lock<std::mutex> lock;
      if (int error = disk_->Enter(lock); error != 0) return error;
      if (offset + length > node_->data.size()) return EIO;
      std::memcpy(to, node_->data.data() + offset, length);
      return 0;
    }
    int Write(const iovec* parts, int count, std::size_t* written) override {
      std::unique_lock<std::mutex> lock;
      *written = 0;
      if (int error = disk_->Enter(lock); error != 0) return error;
      for (int i = 0; i < count; ++i) {
        node_->data.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
        *written += parts[i].iov_len;
      }
      return 0;
    }
    int Sync() override {
      std::unique_lock<std::mutex> lock;
      if (int error = disk_->Enter(lock); error != 0) return error;
      node_->durable = node_->data;
      return 0;
    }
    int Truncate(std::uint64_t size_bytes) override {
      std::unique_lock<std::mutex> lock;
      if (int error = disk_->Enter(lock); error != 0) return error;
      node_->data.resize(size_bytes);
      return 0;
    }
    bool Unlinked() override { return false; }

   private:
    std::shared_ptr<CrashDisk> disk_;
    std::shared_ptr<CrashDisk::Node> node_;
  };

  class Fixed final : public FixedFile {
   public:
    Fixed(std::shared_ptr<CrashDisk> disk, std::shared_ptr<CrashDisk::Node> node)
        : disk_(std::move(disk)), node_(std::move(node)) {}
    int ReadAt(std::uint64_t offset, char* to, std::size_t length) override {
      std::unique_lock<std::mutex> lock;
      if (int error = disk_->Enter(lock); error != 0) return error;
      if (offset + length > node_->data.size()) return EIO;
      std::memcpy(to, node_->data.data() + offset, length);
      return 0;
    }
    int WriteAt(std::uint64_t offset, const char* from, std::size_t length) override {
      std::unique_lock<std::mutex> lock;
      if (int error = disk_->Enter(lock); error != 0) return error;
      node_->data.replace(offset, length, from, length);
      return 0;
    }
    int Sync() override {
      std::unique_lock<std::mutex> lock;
      if (int error = disk_->Enter(lock); error != 0) return error;
      node_->durable = node_->data;
      return 0;
    }

   private:
    std::shared_ptr<CrashDisk> disk_;
    std::shared_ptr<CrashDisk::Node> node_;
  };

  int Nothing() {
    std::unique_lock<std::mutex> lock;
    return disk_->Enter(lock);
  }
  std::shared_ptr<CrashDisk::Node> NodeOf(const std::string& path) {
    auto& node = disk_->names[path];
    if (node == nullptr) node = std::make_shared<CrashDisk::Node>();
    return node;
  }

  std::shared_ptr<CrashDisk> disk_;
};

}  // namespace sluice::produce
