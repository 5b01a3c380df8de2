#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "produce/file_ops.h"

namespace sluice::produce {

// Files in memory. `fail` is asked before each call, with its name ("write", "sync", …) and the
// file: what it returns (not 0) is the call's result. `room_bytes` is what writes may still add; a
// write that does not fit is cut short, the next one gets ENOSPC. `longest_write` cuts every write.
class FakeFileOps final : public FileOps {
 public:
  struct Disk {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<std::string>> files;
    std::vector<std::string> calls;
    std::function<int(const std::string& call, const std::string& path)> fail;
    std::uint64_t room_bytes = UINT64_MAX;
    std::size_t longest_write = SIZE_MAX;

    // Without the lock: `fail` may wait.
    int Call(const std::string& call, const std::string& path) {
      std::function<int(const std::string&, const std::string&)> ask;
      {
        const std::lock_guard lock(mutex);
        calls.push_back(call);
        ask = fail;
      }
      return ask ? ask(call, path) : 0;
    }
    std::string Text(const std::string& path) {
      const std::lock_guard lock(mutex);
      auto at = files.find(path);
      return at == files.end() ? "(none)" : *at->second;
    }
    std::size_t Count(const std::string& call) {
      const std::lock_guard lock(mutex);
      std::size_t n = 0;
      for (const std::string& c : calls) n += c == call;
      return n;
    }
  };

  explicit FakeFileOps(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}

  int CreateFolders(const std::string& path) override { return Simple("create_folders", path); }
  int CheckWritable(const std::string& path) override { return Simple("check_writable", path); }
  int LockFolder(const std::string& path) override { return Simple("lock", path); }
  int SyncFolder(const std::string& path) override { return Simple("sync_folder", path); }
  int ListFiles(const std::string& path, std::vector<std::string>* names) override {
    if (int error = disk_->Call("list", path); error != 0) return error;
    const std::lock_guard lock(disk_->mutex);
    for (const auto& [name, text] : disk_->files) {
      const std::size_t slash = name.rfind('/');
      if (name.substr(0, slash) == path) names->push_back(name.substr(slash + 1));
    }
    return 0;
  }
  int Open(const std::string& path, std::unique_ptr<AppendFile>* file) override {
    if (int error = disk_->Call("open", path); error != 0) return error;
    const std::lock_guard lock(disk_->mutex);
    auto& text = disk_->files[path];
    if (text == nullptr) text = std::make_shared<std::string>();
    *file = std::make_unique<File>(disk_, path, text);
    return 0;
  }
  int OpenFixed(const std::string& path, std::uint64_t size_bytes,
                std::unique_ptr<FixedFile>* file) override {
    if (int error = disk_->Call("open_fixed", path); error != 0) return error;
    const std::lock_guard lock(disk_->mutex);
    auto& text = disk_->files[path];
    if (text == nullptr) text = std::make_shared<std::string>();
    if (text->size() < size_bytes) text->resize(size_bytes);
    *file = std::make_unique<Fixed>(disk_, path, text);
    return 0;
  }
  int Remove(const std::string& path) override {
    if (int error = disk_->Call("remove", path); error != 0) return error;
    const std::lock_guard lock(disk_->mutex);
    return disk_->files.erase(path) == 1 ? 0 : ENOENT;
  }
  int Rename(const std::string& from, const std::string& to) override {
    if (int error = disk_->Call("rename", from); error != 0) return error;
    const std::lock_guard lock(disk_->mutex);
    auto node = disk_->files.extract(from);
    if (node.empty()) return ENOENT;
    disk_->files[to] = node.mapped();
    return 0;
  }

 private:
  class Fixed final : public FixedFile {
   public:
    Fixed(std::shared_ptr<Disk> disk, std::string path, std::shared_ptr<std::string> text)
        : disk_(std::move(disk)), path_(std::move(path)), text_(std::move(text)) {}
    int ReadAt(std::uint64_t offset, char* to, std::size_t length) override {
      if (int error = disk_->Call("read", path_); error != 0) return error;
      const std::lock_guard lock(disk_->mutex);
      if (offset + length > text_->size()) return EIO;
      std::memcpy(to, text_->data() + offset, length);
      return 0;
    }
    int WriteAt(std::uint64_t offset, const char* from, std::size_t length) override {
      if (int error = disk_->Call("write_at", path_); error != 0) return error;
      const std::lock_guard lock(disk_->mutex);
      text_->replace(offset, length, from, length);
      return 0;
    }
    int Sync() override { return disk_->Call("sync", path_); }

   private:
    std::shared_ptr<Disk> disk_;
    std::string path_;
    std::shared_ptr<std::string> text_;
  };

  class File final : public AppendFile {
   public:
    File(std::shared_ptr<Disk> disk, std::string path, std::shared_ptr<std::string> text)
        : disk_(std::move(disk)), path_(std::move(path)), text_(std::move(text)) {}
    int Size(std::uint64_t* size_bytes) override {
      if (int error = disk_->Call("size", path_); error != 0) return error;
      const std::lock_guard lock(disk_->mutex);
      *size_bytes = text_->size();
      return 0;
    }
    int ReadAt(std::uint64_t offset, char* to, std::size_t length) override {
      if (int error = disk_->Call("read", path_); error != 0) return error;
      const std::lock_guard lock(disk_->mutex);
      if (offset + length > text_->size()) return EIO;
      std::memcpy(to, text_->data() + offset, length);
      return 0;
    }
    int Write(const iovec* parts, int count, std::size_t* written) override {
      *written = 0;
      if (int error = disk_->Call("write", path_); error != 0) return error;
      const std::lock_guard lock(disk_->mutex);
      std::string all;
      for (int i = 0; i < count; ++i)
        all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
      if (disk_->room_bytes == 0) return ENOSPC;
      all.resize(std::min<std::uint64_t>({all.size(), disk_->longest_write, disk_->room_bytes}));
      if (disk_->room_bytes != UINT64_MAX) disk_->room_bytes -= all.size();
      text_->append(all);
      *written = all.size();
      return 0;
    }
    int Sync() override { return disk_->Call("sync", path_); }
    int Truncate(std::uint64_t size_bytes) override {
      if (int error = disk_->Call("truncate", path_); error != 0) return error;
      const std::lock_guard lock(disk_->mutex);
      text_->resize(size_bytes);
      return 0;
    }
    bool Unlinked() override {
      const std::lock_guard lock(disk_->mutex);
      return disk_->files.count(path_) == 0;
    }

   private:
    std::shared_ptr<Disk> disk_;
    std::string path_;
    std::shared_ptr<std::string> text_;
  };

  int Simple(const char* call, const std::string& path) { return disk_->Call(call, path); }

  std::shared_ptr<Disk> disk_;
};

}  // namespace sluice::produce
